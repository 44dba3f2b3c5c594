// How fast the store is, as numbers: `store_bench [experiments] [folder]`. Fills a database with
// that many experiments (100,000 unless told) of 20 facts, then reads pages of it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "base/files.h"
#include "store/reader.h"
#include "store/sample_facts.h"

namespace {

using namespace store;

constexpr int kRuns = 18;  // of one experiment, as in sample::finished_experiment
constexpr int kExperimentsPerHypothesis = 5;
constexpr int kHypothesesPerNight = 100;

void expect_ok(const base::Status& status) {
  if (status) return;
  fmt::print(stderr, "{}\n", status.error().text());
  std::exit(1);
}
template <class T>
T expect_ok(base::Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().text());
  std::exit(1);
}

// Nights, hypotheses and experiments as the loop would write them; gives seconds spent in the
// commits of experiments alone.
double fill(Store& store, std::int64_t experiments, const base::Clock& clock) {
  using namespace hypotheses;
  expect_ok(store.commit({{1}, {CampaignCreated{sample::campaign(1)}}, {}, {}}));
  double spent_s = 0;
  std::int64_t hypothesis = 0, night = 0;
  for (std::int64_t id = 1; id <= experiments; ++id) {
    if ((id - 1) % kExperimentsPerHypothesis == 0) {
      Commit opening{{id}, {}, {}, {}};
      if (hypothesis % kHypothesesPerNight == 0) {
        opening.facts.push_back(NightStarted{sample::night(++night, 1)});
      }
      opening.facts.push_back(HypothesisOpened{sample::hypothesis(++hypothesis, night)});
      opening.facts.push_back(
          QuestionAnswered{{hypothesis}, sample::answer(Question::correct, id)});
      opening.facts.push_back(HypothesisDecided{
          {hypothesis}, hypothesis % 3 ? Verdict::refuted : Verdict::supported, "measured", {}});
      expect_ok(store.commit(opening));
    }
    Commit commit{{id},
                  sample::finished_experiment(id, 1 + kRuns * (id - 1), hypothesis, night),
                  {{{id}, "run-attempt", "{}"}},
                  {{id - 1}}};
    const double start = clock.monotonic_s();
    expect_ok(store.commit(commit));
    spent_s += clock.monotonic_s() - start;
  }
  return spent_s;
}

template <class Query>
void time_query(const char* name, const base::Clock& clock, Query query) {
  std::vector<double> ms;
  for (int i = 0; i < 20; ++i) {
    const double start = clock.monotonic_s();
    expect_ok(query());
    ms.push_back(1e3 * (clock.monotonic_s() - start));
  }
  std::sort(ms.begin(), ms.end());
  fmt::print("{:<44} median {:8.2f} ms, worst {:8.2f} ms\n", name, ms[ms.size() / 2], ms.back());
}

void time_pages(const Reader& reader, std::int64_t experiments, const base::Clock& clock) {
  const auto middle = experiments / 2;
  const hypotheses::MetricKey key{"kda_decode.time", {{"batch", "1"}, {"len", "64"}}};
  const auto refuted = hypotheses::Verdict::refuted;
  time_query("overview", clock, [&] { return reader.overview(); });
  time_query("nights of a campaign, 50", clock, [&] { return reader.nights({1}, {}); });
  time_query("hypotheses, newest 50", clock, [&] { return reader.hypotheses({}, {}); });
  time_query("hypotheses, 50 from the middle", clock, [&] {
    return reader.hypotheses({}, {{middle / kExperimentsPerHypothesis}, 50});
  });
  time_query("hypotheses, 50 refuted of a campaign", clock, [&] {
    return reader.hypotheses({{1}, {}, refuted, ""}, {});
  });
  time_query("hypotheses, 50 by text (every one matches)", clock, [&] {
    return reader.hypotheses({{}, {}, {}, "wider v_tile"}, {});
  });
  time_query("hypotheses, by text (none matches)", clock, [&] {
    return reader.hypotheses({{}, {}, {}, "absent"}, {});
  });
  time_query("experiments of a night, 50", clock, [&] { return reader.experiments({1}, {}); });
  time_query("experiments of a night, 500", clock, [&] {
    return reader.experiments({1}, {{}, 500});
  });
  time_query("experiments of a hypothesis", clock,
             [&] { return reader.experiments_of(hypotheses::HypothesisId{1}); });
  time_query("runs of an experiment", clock, [&] { return reader.runs({middle}); });
  time_query("trend of a metric, 500 points", clock, [&] {
    return reader.measured(key, hypotheses::Side::base, {{}, 500});
  });
  time_query("events after, 100", clock, [&] { return reader.events_after(middle * 20, 100); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t experiments = argc > 1 ? std::atoll(argv[1]) : 100'000;
  const base::SystemClock clock;
  const base::TempDir temporary;
  const std::filesystem::path folder = argc > 2 ? std::filesystem::path(argv[2]) : temporary.path();
  {
    auto store = expect_ok(Store::open(folder));
    const double spent_s = fill(store, experiments, clock);
    fmt::print(
        "{} experiments of 20 facts, a commit each, durable: {:.0f} commits/s, {:.2f} ms each\n",
        experiments, static_cast<double>(experiments) / spent_s,
        1e3 * spent_s / static_cast<double>(experiments));
    const double start = clock.monotonic_s();
    expect_ok(store.backup_to(folder / "backup.db"));
    fmt::print("backup, checked: {:.2f} s\n", clock.monotonic_s() - start);
  }
  fmt::print("{} bytes an experiment\n", std::filesystem::file_size(folder / kDatabaseFile) /
                                             static_cast<std::uintmax_t>(experiments));
  double start = clock.monotonic_s();
  auto store = expect_ok(Store::open(folder));
  fmt::print("open with its integrity check: {:.2f} s\n", clock.monotonic_s() - start);
  start = clock.monotonic_s();
  expect_ok(store.replay([](const Event&) { return base::Status(); }));
  fmt::print("replay of {} events: {:.2f} s\n", store.last_seq(), clock.monotonic_s() - start);
  time_pages(expect_ok(Reader::open(folder)), experiments, clock);
}
