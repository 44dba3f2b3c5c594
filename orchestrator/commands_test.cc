// What people ask for: each command's answer and each of its errors.
#include <catch2/catch.hpp>
#include <limits>

#include "orchestrator/decide.h"
#include "orchestrator/simulator/toy_world.h"
#include "orchestrator/test_view.h"

namespace orchestrator {
namespace {

using base::ErrorCode;
using hypotheses::CampaignState;
using hypotheses::MergeState;

const base::Instant kNow{1'770'000'000'000};

// A state to which decisions are applied as the shell would, without a store.
struct Known {
  State state;

  base::Result<web::Reply> give(const web::Command& command) {
    Decision decision = on_command(state, command, kNow);
    REQUIRE(decision.reply);
    if (!*decision.reply) {
      CHECK(decision.facts.empty());  // what is refused changes nothing
      CHECK(decision.effects.empty());
      CHECK(decision.done.empty());
    }
    take(decision);
    return *decision.reply;
  }
  void take(const Decision& decision) {
    for (const auto& fact : decision.facts) add(fact);
    for (const auto& kind : decision.effects) {
      hypotheses::EffectId id{state.next_effect++};
      state.pending.emplace(id, Effect{id, kind});
    }
    for (auto id : decision.done) state.pending.erase(id);
  }
  void add(const hypotheses::Fact& fact) {
    auto status = apply(state, fact);
    if (!status) FAIL(status.error().text());
  }
  void complete(Completion completion) {
    REQUIRE_FALSE(state.pending.empty());
    take(on_completion(state, {state.pending.begin()->first, std::move(completion)}, kNow));
  }
};

web::CreateCampaign create() {
  web::CreateCampaign command;
  command.campaign.target = "toy";
  command.campaign.time_zone = "UTC";
  return command;
}

Known with_campaign() {
  Known known;
  REQUIRE(known.give(create()));
  return known;
}

Known with_night() {
  Known known = with_campaign();
  REQUIRE(known.give(web::StartNight{{1}}));
  FakeWorld world = toy_world(1, true);
  known.complete(NightOpened{{std::string(40, 'b')}, world.manifest, world.first.knobs});
  return known;
}

hypotheses::MergeRequest merge_request(MergeState state) {
  hypotheses::MergeRequest merge;
  merge.id = {1};
  merge.campaign = {1};
  merge.night = {1};
  merge.hypothesis = {1};
  merge.merged = {std::string(40, 'c')};
  merge.state = state;
  return merge;
}

web::Propose propose(std::vector<hypotheses::KnobSetting> knobs) {
  web::Propose command;
  command.campaign = {1};
  command.claim = "wider is faster";
  command.change.knobs = std::move(knobs);
  command.prediction = *hypotheses::parse_prediction("toy.time{batch=1} -10%");
  return command;
}

// Checks the error's code and that its text holds all of these.
void expect_error(const base::Result<web::Reply>& reply, ErrorCode code,
                  std::initializer_list<std::string> parts) {
  REQUIRE_FALSE(reply);
  CHECK(reply.error().code == code);
  for (const std::string& part : parts) {
    CAPTURE(part, reply.error().text());
    CHECK(reply.error().text().find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a target whose URL holds a password is refused, and the refusal does not repeat it") {
  Known known;
  auto command = create();
  command.campaign.target = "https://ann:hunter2@example.org/x.git";
  const auto reply = known.give(command);
  REQUIRE_FALSE(reply);
  CHECK(reply.error().text().find("NIGHTSHIFT_GIT_TOKEN") != std::string::npos);
  CHECK(reply.error().text().find("hunter2") == std::string::npos);
  command.campaign.target = "ssh://git@example.org:22/x.git";
  CHECK(known.give(command));
}

TEST_CASE("create: a campaign gets an id, a name, and tells when its next night is") {
  Known known;
  auto reply = known.give(create());
  REQUIRE(reply);
  CHECK(reply->id == "C-1");
  CHECK(known.state.campaigns.at({1}).campaign.name == "C-1");
  CHECK(known.state.pending.empty());
  auto nightly = create();
  nightly.campaign.schedule = "0 3 * * *";
  nightly.campaign.name = "nightly";
  reply = known.give(nightly);
  REQUIRE(reply);
  CHECK(reply->id == "C-2");
  CHECK(reply->text.find("2026-02-02T03:00") != std::string::npos);
  auto at_once = create();
  at_once.start_now = true;
  REQUIRE(known.give(at_once));
  CHECK(known.state.pending.size() == 1);
}

TEST_CASE("create: each mistake is refused with what is wrong") {
  Known known;
  auto command = create();
  command.campaign.target.clear();
  expect_error(known.give(command), ErrorCode::bad_input, {"target"});
  command = create();
  command.campaign.planner = "oracle";
  expect_error(known.give(command), ErrorCode::bad_input, {"builtin or llm", "oracle"});
  command = create();
  command.campaign.schedule = "0 25 * * *";
  expect_error(known.give(command), ErrorCode::bad_input, {"25"});
  command = create();
  command.campaign.schedule = "0 3 * * *";
  command.campaign.time_zone = "Mars/Olympus";
  expect_error(known.give(command), ErrorCode::bad_input, {"Mars/Olympus"});
  command = create();
  command.campaign.policy = "evidence: {alfa: 5%}\nbudget: {wall: never}\n";
  expect_error(known.give(command), ErrorCode::bad_input, {"alfa", "never"});
  CHECK(known.state.campaigns.empty());
}

TEST_CASE("pause, resume, cancel: legal ways, and the illegal one back from cancelled") {
  Known known = with_campaign();
  auto set = [&](CampaignState state) {
    return known.give(web::SetCampaignState{{1}, state, "because"});
  };
  auto already = set(CampaignState::active);
  REQUIRE(already);
  CHECK(already->text == "C-1 is active already");
  CHECK(set(CampaignState::paused));
  CHECK(set(CampaignState::active));
  CHECK(set(CampaignState::paused));
  CHECK(set(CampaignState::cancelled));
  expect_error(set(CampaignState::active), ErrorCode::conflict, {"C-1", "cancelled", "active"});
  expect_error(known.give(web::SetCampaignState{{9}, CampaignState::paused, ""}),
               ErrorCode::not_found, {"C-9"});
}

TEST_CASE("start: once at a time, and only while active") {
  Known known = with_campaign();
  CHECK(known.give(web::StartNight{{1}}));
  expect_error(known.give(web::StartNight{{1}}), ErrorCode::conflict, {"running already"});
  known = with_night();
  CHECK(known.state.nights.size() == 1);
  expect_error(known.give(web::StartNight{{1}}), ErrorCode::conflict, {"running already"});
  known = with_campaign();
  REQUIRE(known.give(web::SetCampaignState{{1}, CampaignState::paused, ""}));
  expect_error(known.give(web::StartNight{{1}}), ErrorCode::conflict, {"paused", "resume"});
  expect_error(known.give(web::StartNight{{7}}), ErrorCode::not_found, {"C-7"});
}

TEST_CASE("propose: taken into the queue, checked as soon as a manifest is known") {
  Known known = with_campaign();
  auto reply = known.give(propose({{"no.such", "1"}}));  // nobody can know better yet
  REQUIRE(reply);
  CHECK(reply->id == "H-1");
  known = with_night();
  reply = known.give(propose({{"toy.tile", "64"}}));
  REQUIRE(reply);
  CHECK(reply->text.find("running night") != std::string::npos);
  CHECK(known.state.hypotheses.at({1}).origin == hypotheses::Origin::person);
  expect_error(known.give(propose({{"no.such", "1"}})), ErrorCode::refused,
               {"no.such", "toy.tile"});
  expect_error(known.give(propose({{"toy.tile", "64"}})), ErrorCode::refused,
               {"H-1", "still open"});
  auto bare = propose({{"toy.tile", "16"}});
  bare.prediction.key.conditions.clear();  // completed with the first: batch 1
  REQUIRE(known.give(bare));
  CHECK(to_text(known.state.hypotheses.at({2}).prediction.key) == "toy.time{batch=1}");
  auto elsewhere = propose({{"toy.tile", "64"}});
  elsewhere.campaign = {5};
  expect_error(known.give(elsewhere), ErrorCode::not_found, {"C-5"});
  REQUIRE(known.give(web::SetCampaignState{{1}, CampaignState::cancelled, ""}));
  expect_error(known.give(propose({{"toy.tile", "16"}})), ErrorCode::conflict, {"cancelled"});
}

TEST_CASE("propose: what no manifest could make good is refused before any was read") {
  Known known = with_campaign();
  auto broken = propose({{"toy.tile", "64"}});
  // Recorded as JSON it would read back as another number: the restart would change the claim.
  broken.prediction.log_ratio = std::numeric_limits<double>::quiet_NaN();
  expect_error(known.give(broken), ErrorCode::refused, {"must be a number"});
  broken = propose({{"toy.tile", "64"}});
  broken.claim = std::string(100'000, 'x');
  expect_error(known.give(broken), ErrorCode::refused, {"100000 bytes"});
  broken = propose({});
  broken.change.edits = {{"../elsewhere", "a", "b"}};
  expect_error(known.give(broken), ErrorCode::refused, {"../elsewhere"});
  CHECK(known.state.hypotheses.empty());
}

TEST_CASE("propose: a branch is a hypothesis of its own origin") {
  Known known = with_night();
  auto command = propose({});
  command.branch = "try/wider";
  REQUIRE(known.give(command));
  CHECK(known.state.hypotheses.at({1}).origin == hypotheses::Origin::branch);
  CHECK(known.state.hypotheses.at({1}).change.branch == "try/wider");
}

TEST_CASE("approve: only what waits, and only the tested commit") {
  for (auto state : {MergeState::preparing, MergeState::measuring, MergeState::approved,
                     MergeState::landed, MergeState::rejected, MergeState::failed}) {
    CAPTURE(to_text(state));
    Known known = with_night();
    known.add(hypotheses::MergeOpened{merge_request(state)});
    expect_error(known.give(web::Approve{{1}, {}, "ann"}), ErrorCode::conflict,
                 {"M-1", std::string(to_text(state))});
  }
  Known known = with_night();
  known.add(hypotheses::MergeOpened{merge_request(MergeState::waiting)});
  expect_error(known.give(web::Approve{{1}, {std::string(40, 'd')}, "ann"}), ErrorCode::conflict,
               {std::string(40, 'c'), std::string(40, 'd')});
  expect_error(known.give(web::Approve{{4}, {}, "ann"}), ErrorCode::not_found, {"M-4"});
  CHECK(known.state.merges.at({1}).state == MergeState::waiting);
  REQUIRE(known.give(web::Approve{{1}, {std::string(40, 'c')}, "ann"}));
  CHECK(known.state.merges.at({1}).state == MergeState::approved);
  CHECK(known.state.merges.at({1}).approved_commit.hex == std::string(40, 'c'));
  CHECK(known.state.merges.at({1}).approved_by == "ann");
  REQUIRE(known.state.pending.size() == 1);
  CHECK(std::holds_alternative<LandMerge>(known.state.pending.begin()->second.kind));
}

TEST_CASE("reject: whatever is not landed, approved or over, and the reason is kept") {
  for (auto state :
       {MergeState::approved, MergeState::landed, MergeState::rejected, MergeState::failed}) {
    CAPTURE(to_text(state));
    Known known = with_night();
    known.add(hypotheses::MergeOpened{merge_request(state)});
    expect_error(known.give(web::Reject{{1}, "ann", ""}), ErrorCode::conflict,
                 {"M-1", std::string(to_text(state))});
  }
  for (auto state : {MergeState::preparing, MergeState::measuring, MergeState::waiting}) {
    Known known = with_night();
    known.add(hypotheses::MergeOpened{merge_request(state)});
    REQUIRE(known.give(web::Reject{{1}, "ann", "too risky"}));
    CHECK(known.state.merges.at({1}).state == MergeState::rejected);
    CHECK(known.state.merges.at({1}).reason == "rejected by ann: too risky");
  }
  Known known = with_night();
  expect_error(known.give(web::Reject{{4}, "ann", ""}), ErrorCode::not_found, {"M-4"});
}

TEST_CASE("a night that cannot start says why, and another may be asked for") {
  struct Row {
    Completion completion;
    const char* says;
  };
  FakeWorld world = toy_world(1, true);
  const Row rows[] = {
      {EffectFailed{{ErrorCode::not_found, "there is no such repository", "toy"}}, "no such repo"},
      {NightOpened{{std::string(40, 'b')}, "version: 1\nnom: toy\n", {}}, "nom"},
      {CandidateReady{}, "bug"}};
  for (const Row& row : rows) {
    Known known = with_campaign();
    REQUIRE(known.give(web::StartNight{{1}}));
    Decision decision =
        on_completion(known.state, {known.state.pending.begin()->first, row.completion}, kNow);
    REQUIRE(decision.facts.size() == 1);
    CHECK(std::get<hypotheses::Noted>(decision.facts[0]).text.find(row.says) != std::string::npos);
    known.take(decision);
    CHECK(known.state.nights.empty());
    CHECK(known.give(web::StartNight{{1}}));
  }
  auto other_goal = create();
  other_goal.campaign.goal.metric = "toy.gone";
  Known known;
  REQUIRE(known.give(other_goal));
  REQUIRE(known.give(web::StartNight{{1}}));
  known.complete(NightOpened{{std::string(40, 'b')}, world.manifest, world.first.knobs});
  CHECK(known.state.nights.empty());
}

}  // namespace orchestrator
