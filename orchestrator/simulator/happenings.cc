// What happens around the process, a turn at a time.
#include <algorithm>
#include <utility>

#include "orchestrator/simulator/fake_planner.h"
#include "orchestrator/simulator/one_life.h"

namespace orchestrator {

using hypotheses::CampaignId;
using hypotheses::CampaignState;
using hypotheses::MergeState;

namespace {

constexpr int kMostTurns = 40'000;
constexpr int kIdleTurns = 3;  // without news: then nothing happens any more

template <class... Orders>
bool is_one_of(const Order& order) {
  return (std::holds_alternative<Orders>(order.what) || ...);
}

}  // namespace

bool Simulation::turn() {
  if (shell_->dropped() > 0) {
    invariants_.add("legal-transitions", "a decision could not be applied to the state");
  }
  if (!invariants_.broken().empty()) return over_ = true;
  if (!shell_->idle()) return false;
  if (++turn_ > kMostTurns) {
    invariants_.add("queue-drains", fmt::format("no end after {} turns", kMostTurns));
    return over_ = true;
  }
  strike();
  if (late_until_ != 0 && turn_ >= late_until_) {
    late_until_ = 0;
    performer_->deliver_late();
  }
  if (shell_->idle()) happen();
  if (shell_->idle() && !over_) shell_->post(Tick{});
  return over_;
}

void Simulation::strike() {
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const Fault& fault = plan_.faults[i];
    if (counts_commits(fault.kind) || struck_[i] || fault.at > turn_ || !can_strike(fault))
      continue;
    struck_[i] = true;
    ++life_.faults;
    tell("FAULT " + to_text(fault));
    strike(fault);
  }
}

const SeenMerge* Simulation::newest_merge() const {
  const auto& merges = invariants_.ledger().merges;
  return merges.empty() ? nullptr : &merges.rbegin()->second;
}

// What people do to a merge waits until there is one.
bool Simulation::can_strike(const Fault& fault) const {
  if (invariants_.ledger().campaigns.empty()) return false;
  const SeenMerge* merge = newest_merge();
  switch (fault.kind) {
    case FaultKind::approve:
    case FaultKind::reject:
      return merge != nullptr;
    case FaultKind::approve_other:
    case FaultKind::approve_twice:
    case FaultKind::approve_and_reject:
      return merge != nullptr && merge->state == MergeState::waiting;
    default:
      return true;
  }
}

void Simulation::strike(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::crash:
      if (shell_->trouble().empty()) settled_ = text_of(shell_->state());
      throw Crash{};
    case FaultKind::completion_late:
      next_fate_ = Fate::late;
      late_until_ = turn_ + fault.size;
      return;
    case FaultKind::completion_twice:
      next_fate_ = Fate::arrives_twice;
      return;
    case FaultKind::completion_lost:
      next_fate_ = Fate::lost;
      return;
    case FaultKind::machine_fails:
      machine_fails_ = true;
      return;
    case FaultKind::git_fails:
      git_fails_ = true;
      return;
    case FaultKind::base_moves:
      return push_to_base(fault.size);
    case FaultKind::clock_jumps:
      clock_.advance_s(fault.size);
      return;
    default:
      return interfere(fault);
  }
}

// People: any of these may come at any time, and be refused.
void Simulation::interfere(const Fault& fault) {
  CampaignId campaign = invariants_.ledger().campaigns.rbegin()->first;
  const SeenMerge* merge = newest_merge();
  auto set = [&](CampaignState state) {
    ask(web::SetCampaignState{campaign, state, "simulated"}, std::string(to_text(state)));
  };
  auto approve = [&](const hypotheses::CommitId& commit, const char* who) {
    ask(web::Approve{merge->opened.id, commit, who}, "approve " + commit.brief());
  };
  auto reject = [&] { ask(web::Reject{merge->opened.id, "rob", "no"}, "reject"); };
  switch (fault.kind) {
    case FaultKind::approve:
      return approve(merge->merged, "ann");
    case FaultKind::approve_other:
      return approve(fault.size == 0 ? merge->base : hypotheses::CommitId{std::string(40, 'a')},
                     "eve");
    case FaultKind::approve_twice:
      approve(merge->merged, "ann");
      return approve({}, "bob");
    case FaultKind::approve_and_reject:
      if (fault.size == 0) reject();
      approve(merge->merged, "ann");
      if (fault.size != 0) reject();
      return;
    case FaultKind::reject:
      return reject();
    case FaultKind::pause:
      return set(CampaignState::paused);
    case FaultKind::resume:
      return set(CampaignState::active);
    case FaultKind::cancel:
      return set(CampaignState::cancelled);
    case FaultKind::start_night:
      return ask(web::StartNight{campaign}, "another night");
    case FaultKind::propose: {
      base::Rng rng = luck("proposal");
      return ask(fake_proposal(campaign, rng), "propose");
    }
    default:
      return;  // a fault of the commits
  }
}

void Simulation::push_to_base(int what) {
  FakeTree tree = target_.tree(target_.tip());
  const SeenMerge* merge = newest_merge();
  if (what == 1) {
    tree.knobs["sim.k0"] = "1";
  } else if (what == 2 && merge != nullptr && merge->merged) {
    tree = target_.tree(merge->merged);
  }
  tree.files["doc"] = std::to_string(turn_);
  target_.push(std::move(tree));
}

Fate Simulation::fate_of(const Order& order) {
  if (is_one_of<StopOrder>(order)) return Fate::arrives;
  return std::exchange(next_fate_, std::nullopt).value_or(Fate::arrives);
}

std::optional<Completion> Simulation::failure_of(const Order& order) {
  if (machine_fails_ && is_one_of<AttemptOrder>(order)) {
    machine_fails_ = false;
    return EffectFailed{{base::ErrorCode::unavailable, "simulated: no sandbox", {}}};
  }
  if (git_fails_ && is_one_of<OpenNightOrder, CandidateOrder, MergeOrder, LandOrder>(order)) {
    git_fails_ = false;
    return EffectFailed{{base::ErrorCode::io, "simulated: the repository cannot be read", {}}};
  }
  return {};
}

void Simulation::ask(web::Command command, const std::string& told) {
  invariants_.asked(command);
  tell("person: " + told);
  shell_->post(CommandGiven{std::move(command)});
}

void Simulation::happen() {
  if (!performer_->idle()) {
    performer_->step(luck("order").below(performer_->queued()));
    return;
  }
  if (!shell_->trouble().empty()) return;  // it tries again by itself
  if (performer_->late() > 0) {
    late_until_ = 0;
    performer_->deliver_late();
    return;
  }
  if (!invariants_.ledger().pending.empty()) {
    tell("a completion was lost: somebody restarts the daemon");
    settled_ = text_of(shell_->state());
    throw Crash{};
  }
  if (person_acts()) return;
  if (++idle_ > kIdleTurns) over_ = true;
}

bool Simulation::person_acts() {
  const Ledger& ledger = invariants_.ledger();
  if (ledger.campaigns.size() < setting_.campaigns.size()) {
    ask(setting_.campaigns[ledger.campaigns.size()], "create a campaign");
    return true;
  }
  for (const auto& [id, campaign] : ledger.campaigns) {
    if (campaign.state != CampaignState::paused) continue;
    ask(web::SetCampaignState{id, CampaignState::active, "back to work"}, "resume");
    return true;
  }
  for (const auto& [id, merge] : ledger.merges) {
    bool sleeps = setting_.habit == Habit::sleeps;
    if (merge.state != MergeState::waiting || sleeps || ++looked_at_[id] > 8) continue;
    if (setting_.habit == Habit::rejects) {
      ask(web::Reject{id, "rob", "not now"}, "reject");
    } else {
      bool named = setting_.habit == Habit::approves_what_was_shown;
      ask(web::Approve{id, named ? merge.merged : hypotheses::CommitId{}, "ann"}, "approve");
    }
    return true;
  }
  return std::any_of(ledger.campaigns.begin(), ledger.campaigns.end(),
                     [&](const auto& entry) { return next_night(entry.first, entry.second); });
}

bool Simulation::next_night(CampaignId id, const SeenCampaign& campaign) {
  if (campaign.state != CampaignState::active || campaign.running) return false;
  const auto& nights = invariants_.ledger().nights;
  auto had = std::count_if(nights.begin(), nights.end(),
                           [&](const auto& night) { return night.second.started.campaign == id; });
  if (had >= plan_.nights || ++nights_asked_[id] > plan_.nights + 6) return false;
  const auto& schedule = shell_->state().campaigns.at(id).schedule;
  if (!schedule) {
    ask(web::StartNight{id}, "start a night");
    return true;
  }
  base::Instant due = schedule->next_after(clock_.now());
  clock_.advance_s(due.seconds_since(clock_.now()) + 2);
  tell("the clock comes to the next scheduled night");
  return true;
}

}  // namespace orchestrator
