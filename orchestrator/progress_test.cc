// What a person at the terminal reads of a night.
#include "orchestrator/progress.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "base/files.h"
#include "store/store.h"

namespace orchestrator {
namespace {

using namespace hypotheses;  // the facts are this file's subject

Answer answer_of(Question question, Verdict verdict, std::string reason) {
  Answer answer{question, verdict, std::move(reason), {}, {4}};
  answer.evidence.emplace();
  answer.evidence->key = {"toy.time", {{"batch", "8"}}};
  return answer;
}

std::string line(const Fact& fact) { return line_of(fact).value_or("(none)"); }

Campaign campaign() {
  Campaign campaign;
  campaign.id = {1};
  campaign.name = "toy";
  campaign.target = "toy";
  return campaign;
}

}  // namespace

TEST_CASE("each fact that a person should see has its line, with ids and reasons") {
  Night night;
  night.id = {1};
  night.base = {std::string(40, 'b')};
  night.started = {1'770'000'000'000};
  CHECK(line(NightStarted{night}) == "N-1 starts on bbbbbbbbbb at 2026-02-02T02:40:00.000Z");
  CHECK(line(NightEnded{{1}, {}, "done"}) == "N-1 ends: done");
  Hypothesis hypothesis;
  hypothesis.id = {2};
  hypothesis.claim = "wider is faster\nand more";
  CHECK(line(HypothesisOpened{hypothesis}) == "H-2 wider is faster");
  CHECK(line(QuestionAnswered{{2}, answer_of(Question::correct, Verdict::refuted, "mismatch")}) ==
        "    correct: refuted; mismatch");
  CHECK(line(QuestionAnswered{{2}, answer_of(Question::guards, Verdict::supported, "fine")}) ==
        "    guard toy.time{batch=8}: supported; fine");
  CHECK(line(MergeAnswered{{1}, answer_of(Question::guards, Verdict::supported, "fine")}) ==
        "    guard toy.time{batch=8}: supported; fine");
  CHECK(line(HypothesisDecided{{2}, Verdict::no_difference, "a tie", {}}) ==
        "  H-2 no-difference: a tie");
  CHECK(line(IncumbentChosen{{1}, {2}}) == "  H-2 is what the next ones build on");
  CHECK(line(IncumbentChosen{{1}, {}}) == "  back to the base branch");
  CHECK(line(ProposalRefused{{1}, {1}, Origin::llm, "x = 9", "no such knob"}) ==
        "  refused: x = 9 (no such knob)");
  CHECK(line(NoiseMeasured{{1}, "toy.bench", {"toy.time", {}}, "m", 0.0123, 6}) ==
        "  A/A: toy.time differs from itself by 1.2% a pair (6 pairs)");
  CHECK(line(TimelineRead{{1}, {3}, "t", {"serve.rate", {}}, {}, {}, "kda 40%; idle 2%"}) ==
        "  timeline of serve.rate: kda 40%; idle 2%");
  CHECK(line(MergeChanged{{1}, MergeState::waiting, "confirmed", {}, {}, "", "", ""}) ==
        "  M-1 waiting: confirmed");
  CHECK(line(MergeChanged{{1}, MergeState::measuring, "", {}, {}, "", "", ""}) ==
        "  M-1 measuring");
  CHECK(line(MergeApproved{{1}, {std::string(40, 'c')}, "ann", {}}) ==
        "  M-1 approved by ann at cccccccccc");
  CHECK(line(CampaignChanged{{1}, CampaignState::paused, "work"}) == "C-1 is paused: work");
  CHECK(line(TargetFetched{{1}, {}, {{"try/a", {}}, {"try/b", {}}}, ""}) ==
        "  pushed: try/a, try/b");
  CHECK(line(TargetFetched{{1}, {}, {}, ""}) == "(none)");
  CHECK(line(Noted{{1}, {}, "something"}) == "  note: something");
  CHECK(line(RunRecorded{}) == "(none)");
  CHECK(line(ExperimentStarted{}) == "(none)");
}

TEST_CASE("a long reason is cut, not wrapped, and never within a character") {
  std::string text = line(HypothesisDecided{{2}, Verdict::refuted, std::string(500, 'x'), {}});
  CHECK(text.size() < 200);
  CHECK(text.substr(text.size() - 3) == "...");
  for (int shift = 0; shift < 3; ++shift) {
    std::string reason(shift, 'x');
    for (int i = 0; i < 100; ++i) reason += "\u2192";  // three bytes each
    std::string cut = line(HypothesisDecided{{2}, Verdict::refuted, reason, {}});
    std::string without = cut.substr(0, cut.size() - 3);
    // What stands before the dots is whole: a lead byte and its two followers.
    CHECK((without.size() - std::string("  H-2 refuted: ").size() - shift) % 3 == 0);
  }
}

TEST_CASE("progress tells what was recorded since the last time, once") {
  base::TempDir folder;
  auto store = store::Store::open(folder.path());
  REQUIRE(store);
  REQUIRE(store->commit({{1}, {CampaignCreated{campaign()}}, {}, {}}));
  REQUIRE(store->commit({{2}, {Noted{{1}, {}, "before"}}, {}, {}}));
  std::ostringstream out;
  Progress progress(folder.path(), store->last_seq(), out, false);
  progress.update();
  CHECK(out.str().empty());
  REQUIRE(store->commit({{3}, {Noted{{1}, {}, "one"}, Noted{{1}, {}, "two"}}, {}, {}}));
  progress.update();
  progress.update();
  CHECK(out.str() == "  note: one\n  note: two\n");
}

TEST_CASE("without a store there is nothing to tell, and nothing breaks") {
  base::TempDir folder;
  std::ostringstream out;
  Progress progress(folder.path(), 0, out, true);
  progress.update();
  CHECK(out.str().empty());
}

}  // namespace orchestrator
