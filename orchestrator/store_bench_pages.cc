#include "orchestrator/store_bench_pages.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "base/clock.h"
#include "hypotheses/types.h"

namespace orchestrator {

namespace {

using namespace hypotheses;  // ids and filters are all that this file speaks of

constexpr int kPlaces = 25;
constexpr int kRepeats = 3;
const MetricKey kTime{"kda_decode.time", {{"batch", "1"}, {"len", "64"}}};

// How often each kind of thing is there.
struct Counts {
  std::int64_t experiments, runs, hypotheses, nights, events;
};

// Asks for one page, at a place in the history from 0 (the oldest) to 1.
using Ask = std::function<base::Status(double place)>;

template <class T>
base::Status status_of(const base::Result<T>& result) {
  if (!result) return tl::unexpected(result.error());
  return {};
}

std::int64_t at(double place, std::int64_t count) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(place * static_cast<double>(count)), 1,
                                  count);
}

base::Result<double> slowest_ms(const Ask& ask) {
  const base::SystemClock clock;
  double slowest = 0;
  for (int place = 0; place <= kPlaces; ++place) {
    double quickest = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      const double start = clock.monotonic_s();
      NS_TRY(ask(static_cast<double>(place) / kPlaces));
      quickest = std::min(quickest, 1e3 * (clock.monotonic_s() - start));
    }
    slowest = std::max(slowest, quickest);
  }
  return slowest;
}

using Asks = std::map<std::string, Ask>;

void add_hypothesis_pages(Asks& asks, const store::Reader& reader, const Counts& counts) {
  const auto page = [&](double place) {
    return store::Page<HypothesisId>{{at(place, counts.hypotheses) + 1}, 50};
  };
  const auto with = [&](const std::string& name, const store::HypothesisFilter& filter) {
    asks[name] = [&, page, filter](double place) {
      return status_of(reader.hypotheses(filter, page(place)));
    };
  };
  with("hypotheses", {});
  with("hypotheses of a campaign", {{1}, {}, {}, ""});
  with("hypotheses that were refuted", {{}, {}, Verdict::refuted, ""});
  with("hypotheses of a campaign that were refuted", {{1}, {}, Verdict::refuted, ""});
  with("hypotheses by text that all match", {{}, {}, {}, "loop variant"});
  with("hypotheses by text that some match", {{}, {}, {}, "unroll cache"});
  with("hypotheses by text, refuted, of a campaign", {{1}, {}, Verdict::refuted, "prefetch"});
  with("hypotheses by text that none matches", {{}, {}, {}, "absent"});
  asks["hypotheses of a night"] = [&](double place) {
    return status_of(reader.hypotheses({{}, {at(place, counts.nights)}, {}, ""}, {}));
  };
  asks["a hypothesis"] = [&](double place) {
    return status_of(reader.hypothesis({at(place, counts.hypotheses)}));
  };
}

void add_experiment_pages(Asks& asks, const store::Reader& reader, const Counts& counts) {
  asks["experiments of a night"] = [&](double place) {
    return status_of(reader.experiments({at(place, counts.nights)}, {}));
  };
  asks["experiments of a hypothesis"] = [&](double place) {
    return status_of(reader.experiments_of(HypothesisId{at(place, counts.hypotheses)}));
  };
  asks["an experiment"] = [&](double place) {
    return status_of(reader.experiment({at(place, counts.experiments)}));
  };
  asks["runs of an experiment"] = [&](double place) {
    return status_of(reader.runs({at(place, counts.experiments)}));
  };
  asks["trend of a metric, 500 points"] = [&](double place) {
    return status_of(reader.measured(kTime, Side::base, {{at(place, counts.runs) + 1}, 500}));
  };
}

void add_other_pages(Asks& asks, const store::Reader& reader, const Counts& counts) {
  asks["overview"] = [&](double) { return status_of(reader.overview()); };
  asks["campaigns"] = [&](double) { return status_of(reader.campaigns()); };
  asks["nights of a campaign"] = [&](double place) {
    return status_of(reader.nights({1}, {{at(place, counts.nights) + 1}, 50}));
  };
  asks["a night"] = [&](double place) {
    return status_of(reader.night({at(place, counts.nights)}));
  };
  asks["notes of a night"] = [&](double place) {
    return status_of(reader.journal(NightId{at(place, counts.nights)}, "noted"));
  };
  asks["planner turns of a night"] = [&](double place) {
    return status_of(reader.planner_turns({at(place, counts.nights)}));
  };
  asks["merges"] = [&](double) { return status_of(reader.merges({})); };
  asks["events after, 100"] = [&](double place) {
    return status_of(reader.events_after(at(place, counts.events), 100));
  };
}

}  // namespace

base::Result<std::map<std::string, double>> time_pages(const std::filesystem::path& folder,
                                                       const History& history) {
  NS_ASSIGN(reader, store::Reader::open(folder));
  NS_ASSIGN(overview, reader.overview());
  const Counts counts{history.experiments(), history.runs(), history.hypotheses(), history.nights(),
                      overview.events};
  Asks asks;
  add_hypothesis_pages(asks, reader, counts);
  add_experiment_pages(asks, reader, counts);
  add_other_pages(asks, reader, counts);
  std::map<std::string, double> ms;
  for (const auto& [name, ask] : asks) {
    NS_ASSIGN(slowest, slowest_ms(ask));
    ms[name] = slowest;
  }
  return ms;
}

base::Status read_some_pages(const store::Reader& reader) {
  NS_TRY(status_of(reader.hypotheses({}, {})));
  NS_TRY(status_of(reader.experiments({1}, {})));
  return status_of(reader.measured(kTime, Side::base, {{}, 500}));
}

}  // namespace orchestrator
