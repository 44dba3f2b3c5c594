// A whole night whose benchmark runs on a real Slurm cluster and whose check runs here.
#include <catch2/catch.hpp>
#include <fstream>

#include "orchestrator/night/run_night.h"
#include "runners/test_cluster.h"

namespace orchestrator {
namespace {

using hypotheses::MergeState;

// The toy target with its counter as a speed probe on the cluster.
void move_to_slurm(const ToyNight& night) {
  const std::filesystem::path clone = night.folder / "clone";
  git(night.folder.path(), "clone -q " + night.target.bare.string() + " clone");
  std::string text = *base::read_file(clone / "nightshift.yaml");
  for (const auto& [what, by] : {std::pair<std::string, std::string>{"counters", "speed"},
                                 {"    metrics:\n",
                                  "    resources: {slurm: {partition: main}}\n"
                                  "    metrics:\n"}}) {
    const auto at = text.find(what);
    REQUIRE(at != std::string::npos);
    text.replace(at, what.size(), by);
  }
  std::ofstream(clone / "nightshift.yaml") << text;
  git(clone, "-c user.name=x -c user.email=x@y commit -q -am slurm");
  git(clone, "push -q origin HEAD:main");
}

// "n1 on host (...)" is a node; a run of this machine is named by its host alone.
bool on_node(const hypotheses::Run& run) {
  return run.machine.machine.starts_with("n1 on ") || run.machine.machine.starts_with("n2 on ");
}

}  // namespace

TEST_CASE("a campaign with its benchmark on Slurm and its check here ends in an approved merge") {
  runners::testing::TestCluster cluster;
  ToyNight night;
  night.worker = NIGHTSHIFT_PROGRAM;
  move_to_slurm(night);
  REQUIRE(night.start());
  REQUIRE(night.create("max_hypotheses: 3\n"));
  REQUIRE(night.run_to_end(240));

  int benchmarks = 0, checks = 0;
  for (const auto& [id, record] : night.view().experiments) {
    for (const hypotheses::Run& run : record.runs) {
      if (!run.measured || record.experiment.probe == "build") continue;
      INFO(record.experiment.probe << " " << run.detail << " " << run.machine.machine);
      CHECK(run.outcome == hypotheses::RunOutcome::ok);
      CHECK(on_node(run) == (record.experiment.probe == "toy.count"));
      (record.experiment.probe == "toy.count" ? benchmarks : checks) += 1;
    }
    for (std::size_t i = 1; i < record.runs.size(); ++i) {
      const auto& a = record.runs[i - 1];
      const auto& b = record.runs[i];
      if (a.attempt == b.attempt && on_node(a) && on_node(b)) {
        CHECK(a.machine.machine == b.machine.machine);
      }
    }
  }
  CHECK(benchmarks >= 4);
  CHECK(checks >= 2);

  REQUIRE(night.view().merges.size() == 1);
  const hypotheses::MergeRequest merge = night.view().merges.begin()->second;
  INFO(merge.reason);
  REQUIRE(merge.state == MergeState::waiting);
  REQUIRE(night.daemon->shell().execute(web::Approve{merge.id, merge.merged, "tester"}));
  REQUIRE(night.run(
      [](const State& state) { return state.merges.begin()->second.state == MergeState::landed; }));
  CHECK(git(night.target.bare, "rev-parse main") == merge.merged.hex + "\n");
  CHECK(cluster.shell("squeue -h -o %j").empty());  // nothing of ours is left in the queue
}

}  // namespace orchestrator
