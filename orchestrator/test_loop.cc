#include "orchestrator/test_loop.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hypotheses/json.h"

namespace orchestrator {

hypotheses::Prediction prediction(const std::string& text) {
  auto parsed = hypotheses::parse_prediction(text);
  REQUIRE(parsed);
  return *parsed;
}

TestLoop::TestLoop(FakeWorld world) : target(std::move(world)) { start(); }

void TestLoop::start(store::CommitObserver* observer) {
  performer = std::make_unique<FakePerformer>(target, clock);
  auto store = store::Store::open(folder.path());
  if (!store) FAIL(store.error().text());
  watch.next = observer;
  store->observe(&watch);
  performer->given = [this](const Order& order) { invariants.ordered(order); };
  ShellOptions options;
  options.snapshot_every = snapshot_every;
  options.program = program;
  options.on_commit = [this](std::int64_t, const State& state) {
    invariants.check(state);
    if (on_commit) on_commit(state);
  };
  auto opened = Shell::open(std::move(*store), clock, *performer, options);
  if (!opened) FAIL(opened.error().text());
  shell = std::move(*opened);
  invariants.restarted(shell->store(), shell->state());
}

void TestLoop::crash() {
  shell.reset();
  performer.reset();
}

web::Reply TestLoop::give(web::Command command) {
  invariants.asked(command);
  auto reply = shell->execute(std::move(command));
  if (!reply) FAIL(reply.error().text());
  return *reply;
}

base::Error TestLoop::refused(web::Command command) {
  auto reply = shell->execute(std::move(command));
  if (reply) FAIL("not refused: " << reply->text);
  return reply.error();
}

hypotheses::CampaignId TestLoop::campaign(std::string policy, std::uint64_t seed,
                                          std::string schedule, bool start_now) {
  web::CreateCampaign create;
  create.campaign.target = "toy";
  create.campaign.policy = std::move(policy);
  create.campaign.seed = seed;
  create.campaign.schedule = std::move(schedule);
  create.campaign.time_zone = "UTC";
  create.start_now = start_now;
  return *hypotheses::CampaignId::parse(give(create).id);
}

// Each round finds something in the inbox, so that the loop never waits for time to pass.
bool TestLoop::run(const std::function<bool(const State&)>& wanted) {
  constexpr int kIdleRounds = 3;
  bool met = false;
  int idle = 0;
  auto done = [&](const State& now) {
    if (wanted(now)) return met = true;
    if (!shell->idle()) return false;
    idle = performer->step() ? 0 : idle + 1;
    if (shell->idle()) shell->post(Tick{});
    return idle > kIdleRounds;
  };
  auto status = shell->run({}, done);
  if (!status) FAIL(status.error().text());
  return met;
}

void TestLoop::run_to_end() {
  run([](const State&) { return false; });
  invariants.check_end(state());
}

void TestLoop::move_clock_to(int hour, int minute) {
  constexpr std::int64_t kDay_ms = 86'400'000;
  std::int64_t wanted_ms = (hour * 60 + minute) * 60'000;
  std::int64_t wait_ms = (wanted_ms - clock.now().ms % kDay_ms + kDay_ms) % kDay_ms;
  clock.advance_s(static_cast<double>(wait_ms) / 1e3);
}

std::vector<std::string> TestLoop::events() const {
  std::vector<std::string> lines;
  auto status = shell->store().replay([&](const store::Event& event) -> base::Status {
    lines.push_back(fmt::format("{} {}", hypotheses::kind_of(event.fact),
                                hypotheses::dump(hypotheses::to_json(event.fact))));
    return {};
  });
  if (!status) FAIL(status.error().text());
  return lines;
}

int TestLoop::count(const std::string& text) const {
  int found = 0;
  for (const std::string& line : events()) found += line.find(text) != std::string::npos ? 1 : 0;
  return found;
}

std::vector<std::string> TestLoop::verdicts() const {
  std::vector<std::string> lines;
  for (const auto& [id, hypothesis] : state().hypotheses) {
    lines.push_back(
        fmt::format("{}: {} -> {}", id.text(), to_text(hypothesis.change),
                    hypothesis.verdict ? to_text(*hypothesis.verdict) : to_text(hypothesis.state)));
  }
  for (const auto& [id, merge] : state().merges) {
    lines.push_back(
        fmt::format("{}: {} -> {}", id.text(), merge.hypothesis.text(), to_text(merge.state)));
  }
  return lines;
}

void expect_sound(const TestLoop& loop) {
  std::string all;
  for (const Violation& broken : loop.invariants.broken()) all += broken.text() + "\n";
  INFO(all);
  CHECK(loop.invariants.broken().empty());
}

}  // namespace orchestrator
