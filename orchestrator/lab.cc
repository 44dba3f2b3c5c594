#include "orchestrator/lab.h"

#include <fmt/format.h>

#include <thread>

#include "base/files.h"
#include "base/rng.h"
#include "hypotheses/manifest.h"
#include "hypotheses/yaml.h"
#include "runners/adapters.h"
#include "runners/slurm_files.h"

namespace orchestrator {

using base::ErrorCode;
using hypotheses::CommitId;
using hypotheses::Question;
using hypotheses::Run;
using hypotheses::RunOutcome;
using hypotheses::Side;

namespace {

constexpr int kWarmSlots = 2;  // what is compared: the incumbent and the candidate
constexpr const char* kStamp = ".nightshift-built";  // in a build folder: what it was built from

const CommitId& commit_of(const AttemptOrder& order, Side side) {
  return side == Side::base ? order.experiment.base : order.experiment.candidate;
}

bool isolated(const AttemptOrder& order, Side side) {
  return side == Side::base ? order.base_isolated : order.candidate_isolated;
}

// What the stamp must say for the build to be taken as it is.
std::string stamp_of(const AttemptOrder& order, Side side) {
  std::string stamp = commit_of(order, side).hex;
  if (order.experiment.fresh_build) {
    stamp += fmt::format(" fresh for {}", order.experiment.merge.text());
  }
  return stamp;
}

bool is_built(const std::filesystem::path& build, const std::string& stamp,
              const std::string& file = kStamp) {
  auto text = base::read_file(build / file, 4096);
  return text && *text == stamp;
}

std::filesystem::path artifacts_of(const TargetFolders& folders, const std::string& key) {
  return folders.state() / "artifacts" / key;
}

// Stack and environment size shift code and data; a length of its own for each run makes such luck
// part of the noise, which repetition averages out, instead of a bias of one side.
std::string padding(std::uint64_t seed, int attempt, Side side) {
  base::Rng rng(base::seed_from(seed, fmt::format("padding {} {}", attempt, to_text(side))));
  return std::string(1 + rng.below(4096), 'x');
}

}  // namespace

struct Lab::Bench {
  store::git::Workspace workspace;
  std::shared_ptr<void> hold;  // of the workspace
  bool failed = false;         // its build did; the run says why
};

LocalSlots::Taken Lab::take_slot(const AttemptOrder& order, Side side, TargetFolder& folder,
                                 const std::filesystem::path& workspaces) {
  const auto& experiment = order.experiment;
  if (slurm_of(order) != nullptr) {
    std::string kind = isolated(order, side) ? "-patch" : "";
    if (experiment.fresh_build) {
      kind = fmt::format("-fresh-m{}-{}", experiment.merge.value, to_text(side));
    }
    std::string slot = SlurmSlots::kPrefix + commit_of(order, side).brief() + kind;
    auto hold = slurm_slots_.hold(*folder.pool, slot);
    return {std::move(slot), std::move(hold)};
  }
  LocalSlots::Wanted wanted{"warm", kWarmSlots, experiment.id};
  if (experiment.fresh_build) {
    wanted.kind = fmt::format("fresh-{}", to_text(side));
    wanted.usual = 1;
  } else if (isolated(order, side)) {
    wanted.kind = "patch-" + commit_of(order, side).brief();
    wanted.usual = 1;
  }
  const auto holds = [&](const std::string& slot, Side whose) {
    return is_built(workspaces / slot / "build", stamp_of(order, whose));
  };
  const Side other = side == Side::base ? Side::candidate : Side::base;
  const bool same = commit_of(order, other) == commit_of(order, side);
  return folder.slots->take(
      wanted, [&](const std::string& slot) { return holds(slot, side); },
      [&](const std::string& slot) { return !same && holds(slot, other); });
}

// What the experiment needs built, in order: the manifest's part, and that of its probe.
std::vector<Lab::Part> Lab::parts_of(const AttemptOrder& order) {
  std::vector<Part> parts = {{&order.manifest->build, kStamp}};
  if (order.experiment.question == Question::builds) return parts;
  const hypotheses::Probe& probe = order.manifest->probes.at(order.experiment.probe);
  if (!probe.build.empty()) parts.push_back({&probe.build, kStamp + ("-" + probe.name)});
  return parts;
}

base::Result<Run> Lab::build(const AttemptOrder& order, Side side, const Part& part,
                             const store::git::Workspace& workspace, std::stop_token stop) {
  runners::Job job;
  job.key = fmt::format("{}/build-{}-{}-{}-{}", order.experiment.id.text(), order.attempt,
                        to_text(side), clock_.now().ms, ++builds_);
  job.purpose = runners::Purpose::build;
  job.cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  job.stop_at_failure = true;
  job.artifacts = artifacts_of(folders_, job.key);
  bool cache = !order.experiment.fresh_build && !isolated(order, side);
  std::filesystem::path cache_folder = folders_.state() / "compiler-cache";
  NS_TRY(base::ensure_folder(cache_folder));
  for (const auto& command : *part.commands) {
    runners::Launch launch;
    launch.name = fmt::format("build-{}", job.launches.size() + 1);
    NS_ASSIGN(argv, hypotheses::substitute(command, {{"build", workspace.build.string()},
                                                     {"tree", workspace.tree.string()}}));
    launch.argv = std::move(argv);
    launch.tree = workspace.tree;
    launch.build = workspace.build;
    // A cache that a stranger's build can write would reach later candidates.
    if (cache) {
      launch.env = {{"CCACHE_DIR", cache_folder.string()},
                    {"CCACHE_NOHASHDIR", "1"},
                    {"CCACHE_BASEDIR", workspace.tree.parent_path().string()}};
      launch.writable = {cache_folder};
    } else {
      launch.env = {{"CCACHE_DISABLE", "1"}};
    }
    launch.limits.timeout_s = order.manifest->build_timeout_s;
    job.launches.push_back(std::move(launch));
  }
  NS_ASSIGN(report, runner_of_(order.sandbox, Where::here).run(job, stop));
  Run run;
  run.side = side;
  run.measured = false;
  run.outcome = RunOutcome::ok;
  run.started = clock_.now();
  run.wall_s = report.wall_s;
  run.artifacts = job.key;
  for (const auto& launch : report.launches) {
    if (launch.ending == runners::Ending::cancelled) {
      return base::fail(ErrorCode::unavailable, "the build was stopped", job.key);
    }
    Run step = runners::interpret(launch, nullptr, {});
    run.machine = step.machine;
    if (&launch == &report.launches.front()) run.started = step.started;
    if (step.outcome != RunOutcome::ok) {
      run.outcome =
          step.outcome == RunOutcome::failed_check ? RunOutcome::build_failed : step.outcome;
      run.detail = step.detail;
      break;
    }
  }
  if (run.outcome == RunOutcome::ok) {
    NS_TRY(base::write_file_atomically(workspace.build / part.stamp, stamp_of(order, side)));
  }
  return run;
}

base::Result<Lab::Bench> Lab::prepare(const AttemptOrder& order, Side side, TargetFolder& folder,
                                      std::vector<Run>& runs, std::stop_token stop) {
  std::filesystem::path workspaces =
      folders_.state() / "targets" / folder.mirror.path().parent_path().filename() / "workspaces";
  auto [slot, hold] = take_slot(order, side, folder, workspaces);
  // Two nights may want one commit on Slurm at the same time; the first of them builds it.
  std::unique_lock alone(slurm_slots_.building(), std::defer_lock);
  if (slurm_of(order) != nullptr) alone.lock();
  bool fresh = order.experiment.fresh_build;
  if (fresh && !is_built(workspaces / slot / "build", stamp_of(order, side))) {
    NS_TRY(folder.pool->discard_build(slot));
  }
  NS_ASSIGN(workspace, folder.pool->acquire(slot, commit_of(order, side)));
  NS_TRY(base::ensure_folder(workspace.build));
  Bench bench{std::move(workspace), std::move(hold), false};
  for (const Part& part : parts_of(order)) {
    if (is_built(bench.workspace.build, stamp_of(order, side), part.stamp)) continue;
    // A half-finished build of something else must not pass for this one.
    NS_TRY(base::remove_tree(bench.workspace.build / part.stamp));
    NS_ASSIGN(run, build(order, side, part, bench.workspace, stop));
    bench.failed = run.outcome != RunOutcome::ok;
    runs.push_back(std::move(run));
    if (bench.failed) break;
  }
  return bench;
}

base::Result<runners::Launch> Lab::launch_of(const AttemptOrder& order, Side side,
                                             const Bench& bench,
                                             const std::filesystem::path& artifacts) {
  const auto& experiment = order.experiment;
  const hypotheses::Probe& probe = order.manifest->probes.at(experiment.probe);
  runners::Launch launch;
  launch.name = std::string(to_text(side));
  launch.tree = bench.workspace.tree;
  launch.build = bench.workspace.build;
  std::filesystem::path scratch =
      folders_.state() / "scratch" / fmt::format("{}-{}", experiment.id.text(), to_text(side));
  // A job that an earlier daemon left in Slurm may be using it.
  if (!runners::read_ticket(artifacts)) NS_TRY(base::remove_tree(scratch));
  NS_TRY(base::ensure_folder(scratch));
  launch.writable = {scratch};
  // Both sides of a pair get the same inputs, every pair gets fresh ones.
  std::uint64_t seed = base::seed_from(experiment.seed, fmt::format("inputs {}", order.attempt));
  std::map<std::string, std::string> values = {{"build", bench.workspace.build.string()},
                                               {"tree", bench.workspace.tree.string()},
                                               {"scratch", scratch.string()},
                                               {"seed", std::to_string(seed >> 33)}};
  for (const auto& [name, value] : experiment.key.conditions) values[name] = value;
  for (const auto& [name, choices] : probe.conditions) values.emplace(name, choices.front());
  for (const auto& [name, knob] : order.manifest->knobs) {
    if (knob.when != hypotheses::KnobTime::launch) continue;
    std::string where = (bench.workspace.tree / knob.file).string();
    NS_ASSIGN(text, base::read_file(where, 1 << 20));
    NS_ASSIGN(value, hypotheses::get_scalar(text, knob.key, where));
    values[name] = value;
  }
  NS_ASSIGN(argv, hypotheses::substitute(probe.run, values));
  launch.argv = std::move(argv);
  launch.env = {{"NIGHTSHIFT_PAD", padding(experiment.seed, order.attempt, side)}};
  launch.limits.timeout_s = probe.timeout_s;
  if (probe.format == hypotheses::Format::chrome_trace) {
    launch.limits.output_bytes = runners::kTraceOutput_bytes;
  }
  return launch;
}

base::Result<runners::Job> Lab::job_of(const AttemptOrder& order,
                                       const std::map<Side, Bench>& benches) {
  const hypotheses::Probe& probe = order.manifest->probes.at(order.experiment.probe);
  runners::Job job;
  job.key = fmt::format("{}/{}", order.experiment.id.text(), order.attempt);
  job.cores = probe.resources.cores;
  job.gpus = probe.resources.gpus;
  job.artifacts = artifacts_of(folders_, job.key);
  if (const auto* slurm = slurm_of(order)) job.slurm = *slurm;
  for (Side side : order.sides) {
    NS_ASSIGN(launch, launch_of(order, side, benches.at(side), job.artifacts));
    job.launches.push_back(std::move(launch));
  }
  return job;
}

base::Result<std::vector<Run>> Lab::perform(const AttemptOrder& order, std::stop_token stop) {
  NS_ASSIGN(folder, folders_.of(order.target));
  std::vector<Run> runs;
  std::map<Side, Bench> benches;
  for (Side side : order.sides) {
    NS_ASSIGN(bench, prepare(order, side, *folder, runs, stop));
    if (bench.failed) return runs;
    benches.emplace(side, std::move(bench));
  }
  if (order.experiment.question == Question::builds) {
    if (runs.empty()) {  // built already, by an earlier experiment
      Run run;
      run.side = order.sides.front();
      run.outcome = RunOutcome::ok;
      run.started = clock_.now();
      runs.push_back(run);
    }
    runs.back().measured = true;
    return runs;
  }
  const hypotheses::Probe& probe = order.manifest->probes.at(order.experiment.probe);
  NS_ASSIGN(job, job_of(order, benches));
  const Where where = job.slurm ? Where::slurm : Where::here;
  NS_ASSIGN(report, runner_of_(order.sandbox, where).run(job, stop));
  for (std::size_t i = 0; i < report.launches.size(); ++i) {
    const auto& launch = report.launches[i];
    if (launch.ending == runners::Ending::cancelled) {
      return base::fail(ErrorCode::unavailable, "the run was stopped", job.key);
    }
    hypotheses::Conditions conditions = order.experiment.key.conditions;
    for (const auto& [name, choices] : probe.conditions) conditions.emplace(name, choices.front());
    Run run = runners::interpret(launch, &probe, conditions);
    run.side = order.sides[i];
    run.position = static_cast<int>(i);
    run.artifacts = job.key;
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace orchestrator
