// Whole nights on a toy target, with everything real but the subject.
#include <httplib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "orchestrator/connection.h"
#include "orchestrator/night/run_night.h"
#include "store/reader.h"

namespace orchestrator {
namespace {

using hypotheses::MergeState;
using hypotheses::Question;
using hypotheses::Verdict;

web::Propose proposal(const std::string& claim, const std::string& predicts) {
  web::Propose command;
  command.campaign = {1};
  command.claim = claim;
  command.prediction = *hypotheses::parse_prediction(predicts);
  return command;
}

const hypotheses::MergeRequest& only_merge(const ToyNight& night) {
  REQUIRE(night.view().merges.size() == 1);
  return night.view().merges.begin()->second;
}

// A night that leaves its winner (toy.tile = 2) waiting.
void night_with_winner(ToyNight& night, bool serve = false) {
  REQUIRE(night.start(serve));
  REQUIRE(night.create("max_hypotheses: 3\n"));
  REQUIRE(night.run_to_end());
  REQUIRE(only_merge(night).state == MergeState::waiting);
}

}  // namespace

TEST_CASE("a fast but wrong variant is refuted by correctness before a benchmark of it ran") {
  ToyNight night;
  REQUIRE(night.start());
  REQUIRE(night.create("max_hypotheses: 1\n"));
  auto wrong = proposal("mode wrong halves the cost", "toy.cost -50%");
  wrong.change.knobs = {{"toy.mode", "wrong"}};
  REQUIRE(night.daemon->shell().execute(wrong));
  REQUIRE(night.run_to_end());
  const auto* h = night.hypothesis("mode wrong");
  REQUIRE(h != nullptr);
  REQUIRE(h->verdict == Verdict::refuted);
  CHECK(h->reason.find("row") != std::string::npos);  // the first mismatch is named
  bool checked = false;
  for (const auto& [id, record] : night.view().experiments) {
    if (record.experiment.hypothesis != h->id) continue;
    checked |= record.experiment.question == Question::correct;
    CHECK(record.experiment.question != Question::own_metric);
    CHECK(record.experiment.question != Question::guards);
  }
  CHECK(checked);
}

TEST_CASE("a candidate that does not build is refuted with the compiler's first error") {
  ToyNight night;
  REQUIRE(night.start());
  REQUIRE(night.create("max_hypotheses: 1\n"));
  auto broken = proposal("mode broken is faster", "toy.cost -50%");
  broken.change.knobs = {{"toy.mode", "broken"}};
  REQUIRE(night.daemon->shell().execute(broken));
  REQUIRE(night.run_to_end());
  const auto* h = night.hypothesis("mode broken");
  REQUIRE(h != nullptr);
  CHECK(h->verdict == Verdict::refuted);
  CHECK(h->reason.find("kernel.h:3:7") != std::string::npos);
}

TEST_CASE("a candidate that edits a protected path is invalid with that reason") {
  ToyNight night;
  REQUIRE(night.start());
  // Somebody pushes a branch that makes the probe report less.
  std::filesystem::path clone = night.folder / "clone";
  git(night.folder.path(), "clone -q " + night.target.bare.string() + " clone");
  git(clone, "checkout -q -b try/cheat");
  std::ofstream(clone / "probes/count.sh") << "echo '{\"metric\": \"toy.cost\", \"value\": 1, "
                                              "\"unit\": \"steps\", \"conditions\": {}}'\n";
  git(clone, "-c user.name=x -c user.email=x@y commit -q -am cheat");
  git(clone, "push -q origin try/cheat");
  REQUIRE(night.create("max_hypotheses: 1\n"));
  auto cheat = proposal("the probe reports less", "toy.cost -90%");
  cheat.branch = "try/cheat";
  REQUIRE(night.daemon->shell().execute(cheat));
  REQUIRE(night.run_to_end());
  const auto* h = night.hypothesis("the probe reports less");
  REQUIRE(h != nullptr);
  CHECK(h->verdict == Verdict::invalid);
  CHECK(h->reason.find("probes/count.sh") != std::string::npos);
  CHECK(h->reason.find("protected") != std::string::npos);
}

TEST_CASE("a timeline that a real program prints is read, however long it is") {
  ToyNight night;
  std::filesystem::path clone = night.folder / "clone";
  git(night.folder.path(), "clone -q " + night.target.bare.string() + " clone");
  std::ofstream(clone / "nightshift.yaml", std::ios::app)
      << "  toy.trace:\n    answers: timeline\n    layer: engine\n    covers: [\"**\"]\n"
         "    run: sh probes/trace.sh\n    format: chrome-trace\n    shows: toy.cost\n"
         "    spans: {kernel: [kernel.sh, \"knob:toy.*\"], gone: [gone.sh]}\n";
  // 100,000 spans of 60 bytes: more than any other probe may print.
  std::ofstream(clone / "probes/trace.sh")
      << "awk 'BEGIN { print \"[\"; for (i = 0; i < 100000; ++i) printf "
         "\"{\\\"ph\\\":\\\"X\\\",\\\"name\\\":\\\"%s\\\",\\\"ts\\\":%d,\\\"dur\\\":1,\\\"tid\\\":"
         "1}%s\\n\", "
         "i % 4 ? \"rest\" : \"kernel\", i, i < 99999 ? \",\" : \"]\" }'\n";
  git(clone, "add -A");
  git(clone, "-c user.name=x -c user.email=x@y commit -q -m trace");
  git(clone, "push -q origin HEAD:main");
  REQUIRE(night.start());
  REQUIRE(night.create("max_hypotheses: 1\n"));
  REQUIRE(night.run_to_end());
  for (const auto& [id, record] : night.view().experiments) {
    if (record.experiment.probe == "toy.trace") UNSCOPED_INFO(record.experiment.answer->reason);
  }
  const auto& shares = night.view().nights.at({1}).shares;
  REQUIRE(shares.size() == 1);
  CHECK(to_text(shares[0].key) == "toy.cost");
  REQUIRE(shares[0].stacks.size() == 1);
  CHECK(shares[0].stacks[0].spans == std::vector<std::string>{"kernel"});
  CHECK(shares[0].stacks[0].share == Approx(0.25));
}

TEST_CASE("a pushed branch is measured and, approved without a daemon, lands as it was tested") {
  ToyNight night;
  std::filesystem::path clone = night.folder / "clone";
  git(night.folder.path(), "clone -q " + night.target.bare.string() + " clone");
  git(clone, "checkout -q -b try/better");
  git(clone, "rm -q build.sh");
  std::ofstream(clone / "build.sh") << "echo cost 40 > \"$1/kernel.out\"\necho mode plain >> "
                                       "\"$1/kernel.out\"\n";
  git(clone, "add build.sh");
  git(clone, "-c user.name=x -c user.email=x@y commit -q -am better");
  git(clone, "push -q origin try/better");
  std::string checkout_before = git(clone, "status --porcelain=v2 --branch");
  REQUIRE(night.start());
  REQUIRE(night.create("max_hypotheses: 1\n"));
  auto better = proposal("a shorter build makes it cheaper", "toy.cost -50%");
  better.branch = "try/better";
  REQUIRE(night.daemon->shell().execute(better));
  REQUIRE(night.run_to_end());
  INFO(night.hypothesis("a shorter build")->reason);
  REQUIRE(night.hypothesis("a shorter build")->verdict == Verdict::supported);
  hypotheses::MergeRequest merge = only_merge(night);
  INFO(merge.reason);
  REQUIRE(merge.state == MergeState::waiting);
  CHECK(merge.unknown.find("engine") != std::string::npos);
  night.daemon.reset();

  auto reply = give_command(night.state(), web::Approve{merge.id, {}, "tester"}, night.clock);
  REQUIRE(reply);
  CHECK(git(night.target.bare, "rev-parse main") == merge.merged.hex + "\n");
  std::string log = git(night.target.bare, "log -1 --format=%B main");
  CHECK(log.find("Nightshift-Hypothesis: ") != std::string::npos);
  CHECK(log.find("Nightshift-Effect: ") != std::string::npos);
  CHECK(git(clone, "status --porcelain=v2 --branch") == checkout_before);
  // Again: it is landed already, and says so.
  auto again = give_command(night.state(), web::Approve{merge.id, {}, "tester"}, night.clock);
  REQUIRE_FALSE(again);
  CHECK(again.error().code == base::ErrorCode::conflict);
}

TEST_CASE("approved through the API of a running daemon, exactly the tested commit lands") {
  ToyNight night;
  night_with_winner(night, true);
  hypotheses::MergeRequest merge = only_merge(night);
  std::jthread loop([&](std::stop_token stop) { (void)night.daemon->run(stop); });
  auto wrong =
      give_command(night.state(), web::Approve{merge.id, {std::string(40, 'a')}, "t"}, night.clock);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().text().find("was tested as") != std::string::npos);
  CHECK(git(night.target.bare, "rev-parse main") == night.target.base.hex + "\n");
  auto reply = give_command(night.state(), web::Approve{merge.id, merge.merged, "t"}, night.clock);
  INFO((reply ? reply->text : reply.error().text()));
  REQUIRE(reply);
  CHECK(git(night.target.bare, "rev-parse main") == merge.merged.hex + "\n");
}

TEST_CASE("a base that moved before the landing is merged and measured anew, the approval lapses") {
  ToyNight night;
  night_with_winner(night);
  hypotheses::MergeRequest first = only_merge(night);
  git(night.folder.path(), "clone -q " + night.target.bare.string() + " clone");
  std::filesystem::path clone = night.folder / "clone";
  std::ofstream(clone / "README") << "hello\n";
  git(clone, "add README");
  git(clone, "-c user.name=x -c user.email=x@y commit -q -m readme");
  git(clone, "push -q origin main");
  std::string moved = git(clone, "rev-parse main");

  REQUIRE(night.daemon->shell().execute(web::Approve{first.id, first.merged, "t"}));
  REQUIRE(night.run([&](const State& state) {
    const auto& merge = state.merges.at(first.id);
    return merge.state == MergeState::waiting && merge.merged != first.merged;
  }));
  hypotheses::MergeRequest second = only_merge(night);
  CHECK(second.base.hex + "\n" == moved);
  CHECK(git(night.target.bare, "rev-parse main") == moved);  // nothing landed
  CHECK_FALSE(second.answers.empty());                       // measured anew
  REQUIRE(night.daemon->shell().execute(web::Approve{second.id, second.merged, "t"}));
  REQUIRE(night.run(
      [&](const State& state) { return state.merges.at(second.id).state == MergeState::landed; }));
  CHECK(git(night.target.bare, "rev-parse main") == second.merged.hex + "\n");
  CHECK(git(night.target.bare, "show main:README") == "hello\n");
}

TEST_CASE("pause, resume and cancel of a running night") {
  ToyNight night;
  REQUIRE(night.start());
  REQUIRE(night.create(""));
  auto first_done = [](const State& state) {
    return !state.hypotheses.empty() && state.hypotheses.begin()->second.verdict.has_value();
  };
  REQUIRE(night.run(first_done));
  using hypotheses::CampaignState;
  REQUIRE(night.daemon->shell().execute(web::SetCampaignState{{1}, CampaignState::paused, "test"}));
  // What runs is finished; then nothing is left to do.
  REQUIRE(night.run([](const State& state) { return state.pending.empty(); }));
  std::size_t experiments = night.view().experiments.size();
  CHECK_FALSE(night.run([&](const State& s) { return s.experiments.size() > experiments; }, 1.0));
  REQUIRE(night.daemon->shell().execute(web::SetCampaignState{{1}, CampaignState::active, "test"}));
  REQUIRE(night.run([&](const State& s) { return s.experiments.size() > experiments; }));
  REQUIRE(
      night.daemon->shell().execute(web::SetCampaignState{{1}, CampaignState::cancelled, "test"}));
  CHECK(night_over(night.view()));
  for (const auto& [id, record] : night.view().experiments) {
    CHECK(record.experiment.state != hypotheses::ExperimentState::running);
  }
  REQUIRE(night.run([](const State& state) { return state.pending.empty(); }));
}

}  // namespace orchestrator
