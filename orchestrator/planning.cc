#include "orchestrator/planning.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "orchestrator/broken_rule.h"
#include "orchestrator/questions.h"
#include "policies/evidence.h"

namespace orchestrator {

using hypotheses::Hypothesis;
using hypotheses::HypothesisId;
using hypotheses::Origin;

namespace {

constexpr std::size_t kNewestClaims = 300;  // that every planner is shown

PastClaim past_claim(const State& state, const Hypothesis& hypothesis, const NightRecord& night) {
  PastClaim past;
  past.id = hypothesis.id;
  past.night = hypothesis.night;
  past.parent = hypothesis.parent;
  past.base = hypothesis.base;
  past.knobs_only = changes_knobs_only(state, hypothesis.id);
  past.claim = hypothesis.claim;
  past.change = hypothesis.change;
  past.prediction = hypothesis.prediction;
  past.verdict = hypothesis.verdict;
  past.reason = hypothesis.reason;
  if (hypothesis.evidence) past.effect = hypothesis.evidence->effect;
  if (hypothesis.night) {
    past.settings = settings_of(state, hypothesis);
    past.same_base = state.nights.at(hypothesis.night).night.base == night.night.base;
  }
  return past;
}

std::string told(const Step& step) {
  if (const auto* stop = std::get_if<Stop>(&step)) return stop->reason;
  const auto& proposal = std::get<Proposal>(step);
  return fmt::format("{} [{}; predicts {}]", proposal.claim, to_text(proposal.change),
                     to_text(proposal.prediction));
}

hypotheses::PlannerTurn turn_of(const NightRecord& night, Origin origin, std::string outcome,
                                std::string text) {
  return {night.night.campaign, night.night.id, night.turns + 1, std::string(to_text(origin)), 0,
          std::move(outcome),   std::move(text)};
}

std::set<HypothesisId> claims_to_show(const State& state, const NightRecord& night,
                                      const Proposal* proposal) {
  const auto& opened = campaign_of(state, night).claims.opened;
  auto newest = opened.end() - static_cast<std::ptrdiff_t>(std::min(opened.size(), kNewestClaims));
  std::set<HypothesisId> shown(newest, opened.end());
  std::vector<hypotheses::Change> near;
  if (proposal != nullptr) near.push_back(proposal->change);
  for (const auto& [name, knob] : night.manifest->knobs) {
    for (const std::string& choice : knob.choices) near.push_back({{{name, choice}}, {}, ""});
  }
  for (HypothesisId id : claims_like(state, night, near)) shown.insert(id);
  return shown;
}

// Tokens that a turn of the LLM may take: all retries, as far as the night's limits pay for them. 0
// where it is not asked: another planner, too many turns without a step, no tokens for an answer.
std::int64_t llm_tokens(const CampaignRecord& campaign, const NightRecord& night,
                        const policies::Spend& spend) {
  const auto& rule = campaign.policy.planner;
  const std::string& kind =
      campaign.campaign.planner.empty() ? rule.kind : campaign.campaign.planner;
  if (kind != "llm") return 0;
  if (night.fruitless >= rule.patience && !broken(Rule::patience_ends)) return 0;
  std::int64_t limit = rule.max_tokens;
  if (campaign.policy.budget.tokens > 0) limit = std::min(limit, campaign.policy.budget.tokens);
  const std::int64_t left = limit - spend.tokens;
  return left < rule.answer_tokens ? 0
                                   : std::min(left, rule.answer_tokens * (rule.max_retries + 1));
}

}  // namespace

PlannerView view_of(const State& state, const NightRecord& night, const Proposal* proposal) {
  const CampaignRecord& campaign = campaign_of(state, night);
  PlannerView view;
  view.night = night.night.id;
  view.manifest = *night.manifest;
  view.goal = complete_key(*night.manifest, night.manifest->goal);
  view.incumbent = night.incumbent;
  view.knobs_only = changes_knobs_only(state, night.incumbent);
  view.settings = incumbent_settings(state, night);
  view.base_settings = night.night.settings;
  for (HypothesisId id : claims_to_show(state, night, proposal)) {
    view.history.push_back(past_claim(state, state.hypotheses.at(id), night));
  }
  view.refusals = night.refusals;
  view.seed = night.night.seed;
  view.turn = night.turns + 1;
  view.remaining_s = policies::remaining_machine_s(campaign.policy.budget, spend_of(state, night));
  return view;
}

Hypothesis open_hypothesis(const State& state, const CampaignRecord& campaign,
                           const Proposal& proposal, Origin origin, base::Instant now, int ahead) {
  Hypothesis hypothesis;
  hypothesis.id = {state.next_hypothesis + ahead};
  hypothesis.campaign = campaign.campaign.id;
  hypothesis.claim = proposal.claim;
  hypothesis.subject = proposal.subject;
  hypothesis.change = proposal.change;
  hypothesis.prediction = proposal.prediction;
  hypothesis.origin = origin;
  hypothesis.opened = now;
  const double fdr = campaign.policy.merge.fdr;
  hypothesis.merge_level =
      policies::merge_level(fdr, campaign.confirmations + 1 + ahead, campaign.confirmed);
  if (broken(Rule::levels_are_shared_out)) hypothesis.merge_level = fdr;
  return hypothesis;
}

std::optional<std::string> outside_refusal(const State& state, const CampaignRecord& campaign,
                                           Proposal& proposal) {
  if (auto why_not = malformed(proposal, campaign.policy)) return why_not;
  if (campaign.nights.empty()) return {};
  const NightRecord& night = state.nights.at(campaign.nights.back());
  proposal.prediction.key = complete_key(*night.manifest, proposal.prediction.key);
  return refusal(proposal, view_of(state, night, &proposal), campaign.policy);
}

void add_step(Decision& decision, const State& state, const NightRecord& night, const Step& step,
              Origin origin, base::Instant now) {
  const CampaignRecord& campaign = campaign_of(state, night);
  const auto* proposal = std::get_if<Proposal>(&step);
  if (proposal == nullptr) {
    decision.facts.push_back(
        hypotheses::PlannerSpoke{turn_of(night, origin, "stopped", told(step))});
    return;
  }
  if (auto why_not = refusal(*proposal, view_of(state, night, proposal), campaign.policy)) {
    decision.facts.push_back(hypotheses::ProposalRefused{campaign.campaign.id, night.night.id,
                                                         origin, told(step), *why_not});
    // The built-in planner would only say the same again.
    std::string outcome = origin == Origin::builtin ? "stopped" : "failed";
    decision.facts.push_back(
        hypotheses::PlannerSpoke{turn_of(night, origin, outcome, told(step) + ": " + *why_not)});
    return;
  }
  Hypothesis hypothesis = open_hypothesis(state, campaign, *proposal, origin, now);
  hypothesis.night = night.night.id;
  decision.facts.push_back(
      hypotheses::PlannerSpoke{turn_of(night, origin, "proposed", told(step))});
  decision.facts.push_back(hypotheses::HypothesisOpened{std::move(hypothesis)});
}

Decision take_turn(const State& state, const NightRecord& night, base::Instant now) {
  const CampaignRecord& campaign = campaign_of(state, night);
  Decision decision;
  if (std::int64_t tokens = llm_tokens(campaign, night, spend_of(state, night)); tokens > 0) {
    decision.effects.push_back(AskPlanner{night.night.id, night.turns + 1, tokens});
    return decision;
  }
  add_step(decision, state, night, next_step(view_of(state, night)), Origin::builtin, now);
  return decision;
}

}  // namespace orchestrator
