// How fast the record is, as numbers: `store_bench [--json] [--experiments N] [--into FOLDER]`.
// Commits experiments one by one, fills the folder up to N of them (100,000 unless told) while
// pages are read, restarts, and asks for every page. docs/benchmarks says what the figures mean.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/log.h"
#include "base/os_error.h"
#include "orchestrator/history.h"
#include "orchestrator/shell.h"
#include "orchestrator/store_bench_pages.h"
#include "store/sample_facts.h"

namespace {

using namespace orchestrator;

constexpr int kTimed = 3000;  // commits
constexpr int kAtOnce = 500;  // experiments filled in between two looks at the write-ahead log
constexpr int kTail = 400;    // experiments recorded since the newest snapshot at a restart
constexpr double kMiB = 1 << 20;

template <class T>
T must(base::Result<T> result) {
  if (result) return std::move(*result);
  std::cerr << result.error().text() << std::endl;
  std::exit(1);
}
void must(const base::Status& status) {
  if (status) return;
  std::cerr << status.error().text() << std::endl;
  std::exit(1);
}

// Wall and CPU seconds since it was made.
class Stopwatch {
 public:
  double wall_s() const { return clock_.monotonic_s() - wall_start_; }
  double cpu_s() const { return static_cast<double>(std::clock() - cpu_start_) / CLOCKS_PER_SEC; }

 private:
  base::SystemClock clock_;
  double wall_start_ = clock_.monotonic_s();
  std::clock_t cpu_start_ = std::clock();
};

class NobodyPerforms final : public Performer {
  void perform(Order, Post) override {}
  void stop() override {}
};

struct Rate {
  double a_second = 0, a_cpu_second = 0;
};

template <class NextCommit>
Rate time_commits(store::Store& store, NextCommit next_commit) {
  std::vector<store::Commit> commits;
  for (int i = 0; i < kTimed; ++i) commits.push_back(next_commit());
  const Stopwatch watch;
  for (const auto& commit : commits) must(store.commit(commit));
  return {kTimed / watch.wall_s(), kTimed / watch.cpu_s()};
}

// How often a second the disk brings 64 KiB to safety: no durable commit can be quicker.
double syncs_per_s(const std::filesystem::path& file) {
  constexpr int kSyncs = 300;
  const base::Fd out(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::string bytes(64 << 10, 'x');
  const Stopwatch watch;
  for (int i = 0; i < kSyncs; ++i) {
    const bool written = ::pwrite(out.get(), bytes.data(), bytes.size(),
                                  static_cast<off_t>(i * bytes.size())) == std::ssize(bytes);
    if (!written || ::fdatasync(out.get()) != 0) must(base::os_fail(errno, "write", file));
  }
  return kSyncs / watch.wall_s();
}

// The record of 20 rows, and one of 20 events and 78 rows: 18 runs of two observations.
nlohmann::json time_records(const std::filesystem::path& folder, base::Durability durability) {
  auto store = must(store::Store::open(folder, durability));
  History history;
  must(fill(store, history, History::kExperimentsAHypothesis));
  const Rate record = time_commits(store, [&] { return history.next_record(); });
  std::int64_t id = history.experiments() + 1, run = history.runs() + 1;
  const Rate long_record = time_commits(store, [&] {
    store::Commit commit{{id}, store::sample::finished_experiment(id, run, 1, 1), {}, {}};
    ++id;
    run += 18;
    return commit;
  });
  return {{"records_per_s", record.a_second},
          {"records_per_cpu_s", record.a_cpu_second},
          {"long_records_per_s", long_record.a_second},
          {"long_records_per_cpu_s", long_record.a_cpu_second}};
}

// Fills while another thread asks for pages without a pause; the largest write-ahead log, in MiB.
double fill_under_readers(const std::filesystem::path& folder, History& history,
                          std::int64_t experiments) {
  auto store = must(store::Store::open(folder, base::Durability::fast));
  std::uintmax_t largest = 0;
  std::jthread reading([&](std::stop_token stop) {
    auto reader = must(store::Reader::open(folder));
    while (!stop.stop_requested()) must(read_some_pages(reader));
  });
  for (std::int64_t next = 0; next < experiments;) {
    next = std::min(next + kAtOnce, experiments);
    must(fill(store, history, next));
    largest = std::max(largest, store.wal_bytes());
  }
  return static_cast<double>(largest) / kMiB;
}

struct Restart {
  double wall_s = 0, cpu_s = 0;
  std::size_t experiments = 0;  // that the state still holds
};

Restart restart(const std::filesystem::path& folder, std::int64_t snapshot_every) {
  const base::SystemClock clock;
  NobodyPerforms nobody;
  ShellOptions options;
  options.snapshot_every = snapshot_every;
  const Stopwatch watch;
  auto store = must(store::Store::open(folder));
  auto shell = must(Shell::open(std::move(store), clock, nobody, options));
  return {watch.wall_s(), watch.cpu_s(), shell->state().experiments.size()};
}

nlohmann::json time_restarts(const std::filesystem::path& folder, History& history) {
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  const Restart whole = restart(folder, 1);  // leaves a snapshot
  {
    auto store = must(store::Store::open(folder, base::Durability::fast));
    must(fill(store, history, history.experiments() + kTail));
  }
  const Restart quick = restart(folder, kNever);
  const Restart with_snapshot = restart(folder, 1);  // of which the deciding thread has to wait
  const auto snapshot = must(must(store::Store::open(folder)).snapshot());
  return {{"reconcile_s", quick.wall_s},
          {"reconcile_cpu_s", quick.cpu_s},
          {"reconcile_whole_log_s", whole.wall_s},
          {"reconcile_whole_log_cpu_s", whole.cpu_s},
          {"snapshot_s", with_snapshot.cpu_s - quick.cpu_s},
          {"snapshot_mib", static_cast<double>(snapshot->payload.size()) / kMiB},
          {"experiments_in_memory", quick.experiments}};
}

struct Arguments {
  bool json = false;
  std::int64_t experiments = 100'000;
  std::string into;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (name == "--json") {
      arguments.json = true;
    } else if (name == "--experiments" && value != nullptr && std::atoll(value) > 0) {
      arguments.experiments = std::atoll(argv[++i]);
    } else if (name == "--into" && value != nullptr) {
      arguments.into = argv[++i];
    } else {
      std::cerr << "usage: store_bench [--json] [--experiments N] [--into FOLDER]" << std::endl;
      std::exit(2);
    }
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  must(base::start_log({base::LogLevel::error, ""}));
  const base::TempDir temporary(arguments.into.empty() ? std::filesystem::temp_directory_path()
                                                       : std::filesystem::path(arguments.into));
  nlohmann::json result = time_records(temporary / "full", base::Durability::synced);
  result["syncs_per_s"] = syncs_per_s(temporary / "syncs");
  result["normal"] = time_records(temporary / "normal", base::Durability::fast);
  const auto folder = temporary / "history";
  History history;
  const Stopwatch filling;
  result["wal_mib_max"] = fill_under_readers(folder, history, arguments.experiments);
  result["fill_s"] = filling.wall_s();
  result["experiments"] = history.experiments();
  result["runs"] = history.runs();
  result.update(time_restarts(folder, history));
  const auto pages = must(time_pages(folder, history));
  result["page_ms"] = pages;
  double worst = 0;
  for (const auto& [page, ms] : pages) worst = std::max(worst, ms);
  result["page_ms_max"] = worst;
  result["database_mib"] =
      static_cast<double>(std::filesystem::file_size(folder / store::kDatabaseFile)) / kMiB;
  std::cout << result.dump(arguments.json ? -1 : 2) << std::endl;
}
