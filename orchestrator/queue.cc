#include "orchestrator/queue.h"

#include <fmt/format.h>

#include <cmath>

#include "hypotheses/transitions.h"
#include "orchestrator/questions.h"
#include "orchestrator/state.h"
#include "policies/order.h"

namespace orchestrator {

using hypotheses::Hypothesis;
using hypotheses::HypothesisId;
using hypotheses::Manifest;

namespace {

std::string group_key(const policies::Lineage& lineage, double predicted,
                      const std::vector<policies::OpenQuestion>& questions,
                      const Manifest& manifest) {
  std::string key =
      fmt::format("{} {} {} {}", to_text(lineage.layer), to_text(lineage.origin), lineage.skeleton,
                  std::lround(std::log2(std::fabs(predicted) + 1e-6)));
  for (const auto& question : questions) {
    key += fmt::format("\n{} {} {}", to_text(question.question), to_text(question.key),
                       question.margin);
    for (const auto& [metric, share] : question.share) key += fmt::format(" {} {}", metric, share);
  }
  if (questions.empty()) return key;
  const auto& of = questions.front();
  for (const auto& [name, probe] : manifest.probes) {
    if (of.change_is_empty || hypotheses::covers(probe, of.paths, of.knobs)) key += "\n" + name;
  }
  return key;
}

// The groups' outlooks as this night sees them.
std::vector<policies::Outlook> outlooks_of(const State& state, const NightRecord& night) {
  const auto& policy = campaign_of(state, night).policy;
  const double remaining_s = policies::remaining_machine_s(policy.budget, spend_of(state, night));
  std::vector<policies::Outlook> outlooks;
  for (const QueueGroup& group : night.queue.groups) {
    std::vector<policies::PricedQuestion> priced;
    double share = 1;
    for (const auto& question : group.questions) {
      auto choice = policies::choose_experiment(question, *night.manifest, night.learned, policy,
                                                remaining_s);
      priced.push_back({question.question, choice.chosen ? choice.chosen->cost_s : 0});
      bool at_goal = question.question == hypotheses::Question::carries_over;
      if (at_goal && choice.chosen) share = choice.chosen->share;
    }
    outlooks.push_back(policies::outlook(night.learned.track, group.lineage, priced, share));
  }
  return outlooks;
}

struct Line {
  std::vector<HypothesisId> ids;  // oldest first
  std::vector<policies::Queued> queued;
};

Line line_of(const Queue& queue) {
  Line line;
  for (const auto& [id, place] : queue.waiting) {
    line.ids.push_back(id);
    line.queued.push_back({place.group, place.predicted, place.by_person});
  }
  return line;
}

}  // namespace

void enter(Queue& queue, const Hypothesis& hypothesis, const Manifest& manifest,
           const std::vector<policies::MetricShares>& shares, const policies::Policy& policy) {
  Hypothesis whole = hypothesis;
  whole.prediction.key = complete_key(manifest, whole.prediction.key);
  QueueGroup group;
  group.lineage = lineage_of(whole, manifest);
  for (const Needed& needed : needed_questions(whole, manifest, policy)) {
    group.questions.push_back(open_question(needed, whole, manifest, shares, false));
  }
  const double predicted = oriented(manifest, whole.prediction);
  const bool by_person = hypothesis.origin == hypotheses::Origin::person ||
                         hypothesis.origin == hypotheses::Origin::branch;
  auto [found, is_new] = queue.group_by_key.emplace(
      group_key(group.lineage, predicted, group.questions, manifest), queue.groups.size());
  if (is_new) queue.groups.push_back(std::move(group));
  queue.waiting[hypothesis.id] = {found->second, predicted, by_person};
}

void leave(Queue& queue, HypothesisId id) { queue.waiting.erase(id); }

std::optional<NextUp> next_up(const State& state, const NightRecord& night) {
  const Line line = line_of(night.queue);
  const auto outlooks = outlooks_of(state, night);
  const auto best = policies::best_queued(line.queued, outlooks);
  if (!best) return {};
  NextUp next{line.ids[*best], ""};
  next.why =
      fmt::format("the best of {} that wait: {}", line.ids.size(),
                  policies::why_worth(line.queued[*best], outlooks[line.queued[*best].outlook]));
  return next;
}

std::string why_waiting(const State& state, const Hypothesis& hypothesis, base::Instant now) {
  const CampaignRecord& campaign = state.campaigns.at(hypothesis.campaign);
  const std::string id = campaign.campaign.id.text();
  if (campaign.campaign.state == hypotheses::CampaignState::paused) {
    return fmt::format("waits: {} is paused (nightshift campaign resume {})", id, id);
  }
  if (!campaign.running) {
    std::string when =
        campaign.schedule
            ? "its next night, at " + to_text(campaign.schedule->next_after(now))
            : "a night of " + id + ", which has no schedule (nightshift campaign start " + id + ")";
    return "waits for " + when;
  }
  const NightRecord& night = state.nights.at(*campaign.running);
  const Line line = line_of(night.queue);
  const auto outlooks = outlooks_of(state, night);
  const auto order = policies::order_queue(line.queued, outlooks);
  std::string text = "waits";
  if (night.taken && !hypotheses::terminal(state.hypotheses.at(night.taken).state)) {
    text += fmt::format(" while {} tests {}", night.night.id.text(), night.taken.text());
  }
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t index = order[place].index;
    if (line.ids[index] != hypothesis.id) continue;
    const auto& queued = line.queued[index];
    text += fmt::format("; place {} of {}: {}", place + 1, order.size(),
                        policies::why_worth(queued, outlooks[queued.outlook]));
    if (place == 0) continue;
    const std::size_t first = order.front().index;
    text +=
        fmt::format("; first is {}: {}", line.ids[first].text(),
                    policies::why_worth(line.queued[first], outlooks[line.queued[first].outlook]));
  }
  return text;
}

}  // namespace orchestrator
