#include "orchestrator/pushed.h"

#include <algorithm>
#include <cctype>

#include "orchestrator/planning.h"

namespace orchestrator {

using hypotheses::CampaignState;
using hypotheses::HypothesisId;

namespace {

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// The last one with this key counts, as for git; empty where there is none.
std::string trailer(const PushedBranch& branch, std::string_view key) {
  std::string value;
  for (const auto& [name, text] : branch.trailers) {
    if (same_word(name, key)) value = text;
  }
  return value;
}

// Somebody proposed the branch by hand; that hypothesis is of its tip.
bool is_proposed(const State& state, const CampaignRecord& campaign, const std::string& branch) {
  return std::any_of(campaign.open.begin(), campaign.open.end(), [&](HypothesisId id) {
    const auto& change = state.hypotheses.at(id).change;
    return change.branch == branch && !change.commit;
  });
}

base::Result<Proposal> proposal_of(const PushedBranch& branch) {
  const std::string claim = trailer(branch, "Hypothesis"), predicts = trailer(branch, "Predicts");
  constexpr const char* kExpected =
      "expected the trailers `Hypothesis: what changes and what it does` and `Predicts: "
      "kda_decode.time{batch=1} -9%` at the end of its last commit's message; ";
  constexpr const char* kDo =
      "; amend the commit and push it again, or propose the branch with `nightshift propose`";
  const auto refuse = [&](const std::string& found) {
    return base::fail(base::ErrorCode::bad_input, kExpected + ("found " + found) + kDo);
  };
  if (claim.empty() && predicts.empty()) return refuse("neither");
  if (claim.empty()) return refuse("no `Hypothesis:`");
  if (predicts.empty()) return refuse("no `Predicts:`");
  const auto prediction = hypotheses::parse_prediction(predicts);
  if (!prediction) return refuse("`Predicts: " + predicts + "`");
  Proposal proposal;
  proposal.claim = claim;
  proposal.change.branch = branch.name;
  proposal.change.commit = branch.tip;
  proposal.prediction = *prediction;
  return proposal;
}

}  // namespace

std::optional<base::Instant> fetch_due(const State& state, const CampaignRecord& campaign) {
  const bool active = campaign.campaign.state == CampaignState::active;
  if (!active || !campaign.running || campaign.policy.fetch_s <= 0) return {};
  const bool pending = std::any_of(state.pending.begin(), state.pending.end(), [&](auto& entry) {
    const auto* fetch = std::get_if<FetchTarget>(&entry.second.kind);
    return fetch != nullptr && fetch->campaign == campaign.campaign.id;
  });
  if (pending) return {};
  const auto started = state.nights.at(*campaign.running).night.started;
  return std::max(started, campaign.last_fetch).plus_s(campaign.policy.fetch_s);
}

void read_branches(Decision& decision, const State& state, const CampaignRecord& campaign,
                   const std::vector<PushedBranch>& branches, base::Instant now) {
  hypotheses::TargetFetched fetched{campaign.campaign.id, now, {}, ""};
  std::vector<hypotheses::Fact> found;
  std::set<hypotheses::CommitId> read = campaign.read;
  int opened = 0;
  for (const PushedBranch& branch : branches) {
    if (is_proposed(state, campaign, branch.name)) continue;
    if (!read.insert(branch.tip).second) continue;
    fetched.branches.push_back({branch.name, branch.tip});
    auto proposal = proposal_of(branch);
    auto why_not = proposal ? outside_refusal(state, campaign, *proposal)
                            : std::optional<std::string>(proposal.error().message);
    if (why_not) {
      found.push_back(hypotheses::Noted{campaign.campaign.id,
                                        {},
                                        branch.name + " at " + branch.tip.brief() +
                                            " is not taken as a hypothesis: " + *why_not});
      continue;
    }
    found.push_back(hypotheses::HypothesisOpened{
        open_hypothesis(state, campaign, *proposal, hypotheses::Origin::branch, now, opened++)});
  }
  decision.facts.push_back(std::move(fetched));
  decision.facts.insert(decision.facts.end(), found.begin(), found.end());
}

}  // namespace orchestrator
