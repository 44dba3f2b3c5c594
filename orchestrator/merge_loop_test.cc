// What becomes of a winner: approvals, a base that moves, conflicts, people who change their minds.
#include <catch2/catch.hpp>

#include "orchestrator/test_loop.h"

namespace orchestrator {
namespace {

using hypotheses::CommitId;
using hypotheses::MergeState;

// A campaign whose night has ended and left M-1 waiting.
std::unique_ptr<TestLoop> waiting_merge(const std::string& policy = kToyPolicy) {
  auto loop = std::make_unique<TestLoop>(toy_world(1, true));
  loop->campaign(policy);
  loop->run_to_end();
  REQUIRE(loop->state().merges.size() == 1);
  REQUIRE(loop->merge().state == MergeState::waiting);
  return loop;
}

FakeTree with_file(FakeTree tree, const std::string& path, const std::string& text) {
  tree.files[path] = text;
  return tree;
}

FakeTree with_knob(FakeTree tree, const std::string& knob, const std::string& value) {
  tree.knobs[knob] = value;
  return tree;
}

}  // namespace

TEST_CASE("an approval lands exactly the tested commit, and no other can be approved") {
  auto loop = waiting_merge();
  CommitId tested = loop->merge().merged, base = loop->target.tip();
  auto error = loop->refused(web::Approve{{1}, {std::string(40, 'a')}, "ann"});
  CHECK(error.code == base::ErrorCode::conflict);
  CHECK(error.message.find(tested.hex) != std::string::npos);
  loop->run_to_end();
  CHECK(loop->target.tip() == base);
  loop->give(web::Approve{{1}, tested, "ann"});
  loop->run_to_end();
  expect_sound(*loop);
  CHECK(loop->merge().state == MergeState::landed);
  CHECK(loop->target.tip() == tested);
  CHECK(loop->merge().approved_by == "ann");
  CHECK(loop->merge().landed_ref == "refs/heads/main");
  CHECK(loop->refused(web::Approve{{1}, tested, "bob"}).code == base::ErrorCode::conflict);
}

TEST_CASE("when the base moved the merge is measured anew and the approval lapses") {
  auto loop = waiting_merge();
  CommitId first = loop->merge().merged;
  CommitId pushed = loop->target.push(with_file(loop->target.tree(loop->target.tip()), "doc", "x"));
  loop->give(web::Approve{{1}, first, "ann"});
  loop->run_to_end();
  expect_sound(*loop);
  CHECK(loop->target.tip() == pushed);  // nothing landed
  CHECK(loop->merge().state == MergeState::waiting);
  CHECK(loop->merge().remeasures == 1);
  CHECK(loop->merge().base == pushed);
  CommitId second = loop->merge().merged;
  CHECK(second != first);
  CHECK_FALSE(loop->merge().approved_commit);
  CHECK(loop->merge().approved_by.empty());
  REQUIRE_FALSE(loop->merge().answers.empty());
  for (const auto& answer : loop->merge().answers) {
    CHECK(loop->state().experiments.at(answer.experiment).experiment.candidate == second);
  }
  CHECK(loop->refused(web::Approve{{1}, first, "ann"}).code == base::ErrorCode::conflict);
  loop->give(web::Approve{{1}, second, "ann"});
  loop->run_to_end();
  expect_sound(*loop);
  CHECK(loop->target.tip() == second);
  CHECK(loop->target.tree(second).files.at("doc") == "x");
}

TEST_CASE("a base that already holds the gain makes the merge fail instead of landing twice") {
  auto loop = waiting_merge();
  loop->target.push(loop->target.tree(loop->merge().merged));  // somebody did the same by hand
  loop->give(web::Approve{{1}, {}, "ann"});
  loop->run_to_end();
  expect_sound(*loop);
  CHECK(loop->merge().state == MergeState::failed);
  CHECK(loop->merge().reason.find("not confirmed") != std::string::npos);
}

TEST_CASE("a conflict with the moved base fails the merge and names the paths") {
  auto loop = waiting_merge();
  CommitId pushed =
      loop->target.push(with_knob(loop->target.tree(loop->target.tip()), "toy.tile", "16"));
  loop->give(web::Approve{{1}, {}, "ann"});
  loop->run_to_end();
  expect_sound(*loop);
  CHECK(loop->merge().state == MergeState::failed);
  CHECK(loop->merge().reason.find("toy.tile") != std::string::npos);
  CHECK(loop->target.tip() == pushed);
}

TEST_CASE("a base that keeps moving is followed as often as the policy says, then given up") {
  auto loop = waiting_merge("merge: {on_kernel_evidence: true, max_remeasures: 2}\n");
  for (int i = 0; i < 3; ++i) {
    REQUIRE(loop->merge().state == MergeState::waiting);
    auto tree = with_file(loop->target.tree(loop->target.tip()), "doc", std::to_string(i));
    loop->target.push(tree);
    loop->give(web::Approve{{1}, {}, "ann"});
    loop->run_to_end();
  }
  expect_sound(*loop);
  CHECK(loop->merge().state == MergeState::failed);
  CHECK(loop->merge().remeasures == 2);
  CHECK(loop->merge().reason.find("the base moved") != std::string::npos);
}

TEST_CASE("a landing that cannot be made goes back to waiting, and is no second discovery") {
  auto loop = waiting_merge();
  int before = loop->state().campaigns.at({1}).confirmed;
  CHECK(before == 1);
  bool locked = true;
  loop->performer->answer = [&](const Order& order) -> std::optional<Completion> {
    if (!locked || !std::holds_alternative<LandOrder>(order.what)) return {};
    return EffectFailed{{base::ErrorCode::io, "the ref is locked", "main"}};
  };
  loop->give(web::Approve{{1}, {}, "ann"});
  loop->run_to_end();
  CHECK(loop->merge().state == MergeState::waiting);
  CHECK(loop->merge().reason.find("the ref is locked") != std::string::npos);
  CHECK(loop->state().campaigns.at({1}).confirmed == before);
  locked = false;
  loop->give(web::Approve{{1}, {}, "ann"});
  loop->run_to_end();
  expect_sound(*loop);
  CHECK(loop->merge().state == MergeState::landed);
}

TEST_CASE("a merge can be rejected in whichever state, and the night goes on to its end") {
  for (auto when : {MergeState::preparing, MergeState::measuring, MergeState::waiting}) {
    for (int later = 0; later < 4; ++later) {  // so many steps into that state
      CAPTURE(to_text(when), later);
      TestLoop loop(toy_world(1, true));
      loop.campaign();
      int steps = 0;
      bool rejected = false;
      loop.run([&](const State& state) {
        if (rejected || state.merges.empty() || state.merges.at({1}).state != when) return false;
        if (steps++ < later) return false;
        loop.give(web::Reject{{1}, "ann", "not now"});
        return rejected = true;
      });
      if (!rejected) continue;
      loop.run_to_end();
      expect_sound(loop);
      CHECK(loop.merge().state == MergeState::rejected);
      CHECK(loop.merge().reason == "rejected by ann: not now");
      CHECK(loop.target.history().size() == 1);
    }
  }
}

TEST_CASE(
    "a merge that is rejected while it is measured anew, after its night, leaves nothing open") {
  for (int later = 1; later < 10; ++later) {
    CAPTURE(later);
    auto loop = waiting_merge();
    loop->target.push(with_file(loop->target.tree(loop->target.tip()), "doc", "x"));
    loop->give(web::Approve{{1}, {}, "ann"});
    int steps = 0;
    bool rejected = false;
    loop->run([&](const State& state) {
      auto now = state.merges.at({1}).state;
      bool can = now == MergeState::preparing || now == MergeState::measuring;
      if (!can || ++steps < later) return false;
      loop->give(web::Reject{{1}, "ann", "not any more"});
      return rejected = true;
    });
    loop->run_to_end();
    expect_sound(*loop);
    CHECK(loop->merge().state == (rejected ? MergeState::rejected : MergeState::waiting));
  }
}

TEST_CASE("a kernel win is not merged where the policy wants evidence from the engine") {
  TestLoop loop(toy_world(1, true));
  loop.campaign("");
  loop.run_to_end();
  expect_sound(loop);
  CHECK(loop.state().merges.empty());
  CHECK(loop.state().nights.at({1}).night.reason.find("merge.on_kernel_evidence") !=
        std::string::npos);
}

TEST_CASE("a winner that its fresh build does not confirm is not put before anybody") {
  FakeWorld world = toy_world(1, true);
  TestLoop loop(world);
  // The merge commit shows none of the gain: it was luck of the code layout.
  loop.performer->answer = [&](const Order& order) -> std::optional<Completion> {
    const auto* attempt = std::get_if<AttemptOrder>(&order.what);
    if (attempt == nullptr || !attempt->experiment.merge ||
        attempt->experiment.question != hypotheses::Question::own_metric) {
      return {};
    }
    AttemptDone done;
    for (hypotheses::Side side : attempt->sides) {
      hypotheses::Run run;
      run.side = side;
      run.outcome = hypotheses::RunOutcome::ok;
      run.observations.push_back({attempt->experiment.key, 100, "ns"});
      done.runs.push_back(run);
    }
    return Completion{done};
  };
  loop.campaign();
  loop.run_to_end();
  expect_sound(loop);
  REQUIRE(loop.state().merges.size() >= 2);  // the winner's, then what it was built on
  for (const auto& [id, merge] : loop.state().merges) {
    CHECK(merge.state == MergeState::failed);
    CHECK(merge.reason.find("not confirmed") != std::string::npos);
  }
  CHECK_FALSE(loop.state().nights.at({1}).incumbent);
}

}  // namespace orchestrator
