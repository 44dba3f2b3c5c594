// How fast the store is, as numbers: `store_bench [experiments] [folder]`. Fills a database with
// that many experiments (100,000 unless told) of 20 facts, then reads pages of it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/files.h"
#include "store/reader.h"
#include "store/sample_facts.h"

namespace {

using namespace store;

constexpr int kRuns = 18;  // of one experiment, as in sample::finished_experiment
constexpr int kExperimentsPerHypothesis = 5;
constexpr int kHypothesesPerNight = 100;
constexpr std::size_t kBatch = 1000;   // facts in a commit of the others
constexpr std::int64_t kTimed = 3000;  // experiments that have a commit of their own

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

// Wall and CPU seconds, added up over the stretches that are timed.
class Stopwatch {
 public:
  explicit Stopwatch(const base::Clock& clock) : clock_(clock) { start(); }
  void start() {
    wall_start_ = clock_.monotonic_s();
    cpu_start_ = std::clock();
  }
  void stop() {
    wall_s_ += clock_.monotonic_s() - wall_start_;
    cpu_s_ += static_cast<double>(std::clock() - cpu_start_) / CLOCKS_PER_SEC;
  }
  double wall_s() const { return wall_s_; }
  double cpu_s() const { return cpu_s_; }

 private:
  const base::Clock& clock_;
  double wall_start_ = 0, wall_s_ = 0, cpu_s_ = 0;
  std::clock_t cpu_start_ = 0;
};

void print(const std::string& what, const Stopwatch& watch) {
  fmt::print("{:<44} {:8.2f} s, CPU {:8.2f} s\n", what, watch.wall_s(), watch.cpu_s());
}

// What goes before the first experiment of a hypothesis, with its night where that is new.
void open_hypothesis(Commit& commit, std::int64_t hypothesis, std::int64_t night,
                     std::int64_t experiment) {
  using namespace hypotheses;
  if ((hypothesis - 1) % kHypothesesPerNight == 0) {
    commit.facts.push_back(NightStarted{sample::night(night, 1)});
  }
  commit.facts.push_back(HypothesisOpened{sample::hypothesis(hypothesis, night)});
  commit.facts.push_back(
      QuestionAnswered{{hypothesis}, sample::answer(Question::correct, experiment)});
  commit.facts.push_back(HypothesisDecided{
      {hypothesis}, hypothesis % 3 ? Verdict::refuted : Verdict::supported, "measured", {}});
}

// Nights, hypotheses and experiments as the loop would write them; times the commits of the first
// experiments, and writes the others many at a time to get on.
void fill(Store& store, std::int64_t experiments, const base::Clock& clock) {
  Stopwatch watch(clock);
  Commit commit{{1}, {hypotheses::CampaignCreated{sample::campaign(1)}}, {}, {}};
  for (std::int64_t id = 1; id <= experiments; ++id) {
    const std::int64_t hypothesis = 1 + (id - 1) / kExperimentsPerHypothesis;
    const std::int64_t night = 1 + (hypothesis - 1) / kHypothesesPerNight;
    if ((id - 1) % kExperimentsPerHypothesis == 0) open_hypothesis(commit, hypothesis, night, id);
    auto facts = sample::finished_experiment(id, 1 + kRuns * (id - 1), hypothesis, night);
    if (id <= kTimed) {
      expect_ok(store.commit(std::exchange(commit, {})));
      const Commit timed{{id}, std::move(facts), {{{id}, "run-attempt", "{}"}}, {{id - 1}}};
      watch.start();
      expect_ok(store.commit(timed));
      watch.stop();
    } else {
      std::move(facts.begin(), facts.end(), std::back_inserter(commit.facts));
      if (commit.facts.size() > kBatch) expect_ok(store.commit(std::exchange(commit, {})));
    }
  }
  expect_ok(store.commit(commit));
  const auto timed = static_cast<double>(std::min(experiments, kTimed));
  print(fmt::format("{:.0f} commits of 20 facts, durable", timed), watch);
  fmt::print("  {:.0f} commits/s; {:.0f} a second of CPU\n", timed / watch.wall_s(),
             timed / watch.cpu_s());
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
    fill(store, experiments, clock);
    Stopwatch watch(clock);
    expect_ok(store.backup_to(folder / "backup.db"));
    watch.stop();
    print("backup, checked", watch);
  }
  const auto bytes = std::filesystem::file_size(folder / kDatabaseFile);
  fmt::print("{} bytes an experiment\n", bytes / static_cast<std::uintmax_t>(experiments));
  Stopwatch opening_watch(clock);
  auto store = expect_ok(Store::open(folder));
  opening_watch.stop();
  print("open with its integrity check", opening_watch);
  Stopwatch replaying(clock);
  expect_ok(store.replay([](const Event&) { return base::Status(); }));
  replaying.stop();
  print(fmt::format("replay of {} events", store.last_seq()), replaying);
  time_pages(expect_ok(Reader::open(folder)), experiments, clock);
}
