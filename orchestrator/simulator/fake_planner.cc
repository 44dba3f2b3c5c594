#include "orchestrator/simulator/fake_planner.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace orchestrator {

namespace {

hypotheses::MetricKey kernel_time() { return {"sim.time", {{"batch", "1"}}}; }

Proposal sensible(base::Rng& rng) {
  Proposal proposal;
  proposal.claim = "does less work";
  proposal.change.knobs = {
      {fmt::format("sim.k{}", rng.below(3)), std::to_string(1 + rng.below(3))}};
  if (rng.uniform() < 0.3) {
    proposal.change.knobs.clear();
    constexpr const char* kWords[] = {"fast", "wrong", "broken", "same"};
    proposal.change.edits = {{"src/sim.cc", "sim", kWords[rng.below(std::size(kWords))]}};
  }
  proposal.prediction = {kernel_time(), std::log(0.95 - 0.4 * rng.uniform())};
  return proposal;
}

// One thing that is wrong with an otherwise sensible proposal.
Proposal garbage(base::Rng& rng) {
  constexpr const char* kPaths[] = {"bench/sim.cc", "nightshift.yaml", "src/../bench/sim.cc",
                                    "/etc/passwd",  ".git/config",     "bench//sim.cc"};
  Proposal proposal = sensible(rng);
  switch (rng.below(10)) {
    case 0:
      proposal.change.knobs = {{"sim.unknown", "1"}};
      break;
    case 1:
      proposal.change.knobs = {{"sim.k0", "99"}};
      break;
    case 2:
      proposal.prediction.log_ratio = std::numeric_limits<double>::quiet_NaN();
      break;
    case 3:
      proposal.prediction.log_ratio = -std::numeric_limits<double>::infinity();
      break;
    case 4:
      proposal.change = {{}, {{kPaths[rng.below(std::size(kPaths))], "timer", "no timer"}}, ""};
      break;
    case 5:
      proposal.claim = rng.coin() ? "" : std::string(100'000, 'x');
      break;
    case 6:
      proposal.change = {{}, {{"src/sim.cc", "sim", std::string(200'000, 'x')}}, ""};
      break;
    case 7:
      proposal.change.knobs = {{"sim.k0", "1"}, {"sim.k0", "0"}};
      break;
    case 8:
      proposal.prediction.key.metric = "no.such.metric";
      break;
    default:
      proposal.change = {};
      break;
  }
  return proposal;
}

}  // namespace

PlannerAnswered fake_answer(const PlannerOrder& order, std::uint64_t seed) {
  base::Rng rng(
      base::seed_from(seed, fmt::format("turn {} of {}", order.ask.turn, order.ask.night.text())));
  PlannerAnswered answered;
  const auto& rule = order.policy.planner;
  std::size_t exchanges = 1 + rng.below(static_cast<std::size_t>(rule.max_retries) + 1);
  for (std::size_t i = 0; i < exchanges; ++i) {
    bool paid = answered.tokens + rule.answer_tokens <= order.ask.reserved_tokens;
    if (i > 0 && !paid) break;
    std::int64_t tokens =
        rng.coin()
            ? rule.answer_tokens
            : static_cast<std::int64_t>(rng.below(static_cast<std::size_t>(rule.answer_tokens)));
    answered.tokens += tokens;
    answered.transcript.push_back(
        {{}, order.ask.night, order.ask.turn, "llm", tokens, "answered", "..."});
  }
  double what = rng.uniform();
  if (what < 0.2) {
    answered.failure = "no answer";
  } else if (what < 0.25) {
    answered.step = Stop{"nothing comes to mind"};
  } else if (what < 0.6) {
    answered.step = garbage(rng);
  } else {
    answered.step = sensible(rng);
  }
  return answered;
}

web::Propose fake_proposal(hypotheses::CampaignId campaign, base::Rng& rng) {
  Proposal proposal = rng.coin() ? sensible(rng) : garbage(rng);
  web::Propose propose;
  propose.campaign = campaign;
  propose.claim = proposal.claim;
  propose.change = proposal.change;
  propose.prediction = proposal.prediction;
  if (rng.uniform() < 0.3) {
    constexpr const char* kBranches[] = {"try/fast", "try/wrong", "try/broken", "try/cheat",
                                         "try/nothing"};
    propose.change = {};
    propose.branch = kBranches[rng.below(std::size(kBranches))];
  }
  return propose;
}

}  // namespace orchestrator
