#include "orchestrator/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/log.h"
#include "hypotheses/transitions.h"
#include "policies/policy.h"
#include "store/reader.h"

namespace orchestrator {

namespace fs = std::filesystem;
using hypotheses::CampaignId;
using hypotheses::ExperimentId;
using hypotheses::HypothesisId;
using hypotheses::MergeRequestId;
using hypotheses::NightId;

namespace {

// The files of one experiment.
struct Folder {
  ExperimentId experiment;
  fs::path path;
  std::uintmax_t bytes = 0;
  base::Instant ended;  // its night
  bool may_go = false;  // whatever its age
};

std::uintmax_t bytes_below(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (at->is_symlink(gone) || !at->is_regular_file(gone)) continue;
    const auto size = at->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

// What merges still need, or keep for good once they landed.
struct Needed {
  std::set<NightId> open;  // nights with a merge to which something may still happen
  std::set<MergeRequestId> landed;
  std::set<HypothesisId> in_landed;  // winners, and what they build on
};

base::Result<Needed> needed_by_merges(const store::Reader& reader) {
  constexpr int kPage = 500;
  Needed needed;
  store::Page<MergeRequestId> page{{}, kPage};
  for (;;) {
    NS_ASSIGN(merges, reader.merges(page));
    for (const auto& merge : merges) {
      if (!hypotheses::terminal(merge.state)) needed.open.insert(merge.night);
      if (merge.state != hypotheses::MergeState::landed) continue;
      needed.landed.insert(merge.id);
      for (HypothesisId id = merge.hypothesis; id && needed.in_landed.insert(id).second;) {
        NS_ASSIGN(hypothesis, reader.hypothesis(id));
        id = hypothesis ? hypothesis->parent : HypothesisId{};
      }
    }
    if (std::ssize(merges) < kPage) return needed;
    page.before = merges.back().id;
  }
}

// Sorts the folders of the artifacts by campaign.
class Inventory {
 public:
  Inventory(const store::Reader& reader, Needed needed,
            const std::map<CampaignId, policies::RetentionRule>& rules)
      : reader_(reader), needed_(std::move(needed)), rules_(rules) {}

  base::Status add(const fs::path& path) {
    const auto id = ExperimentId::parse(path.filename().string());
    if (!id || path.filename() != id->text()) return {};
    NS_ASSIGN(experiment, reader_.experiment(*id));
    if (!experiment) return {};
    NS_ASSIGN(night, night_of(experiment->night));
    const auto rule = rules_.find(experiment->campaign);
    if (rule == rules_.end()) return {};
    const bool landed = needed_.landed.count(experiment->merge) != 0 ||
                        needed_.in_landed.count(experiment->hypothesis) != 0;
    Folder folder{*id, path, bytes_below(path), night.ended, false};
    folder.may_go = experiment->state != hypotheses::ExperimentState::running &&
                    night.state == hypotheses::NightState::ended &&
                    newest_.at(experiment->campaign) != night.id &&
                    needed_.open.count(night.id) == 0 && !(landed && rule->second.keep_merged);
    folders[experiment->campaign].push_back(std::move(folder));
    return {};
  }

  base::Status find_newest_nights() {
    for (const auto& [campaign, rule] : rules_) {
      NS_ASSIGN(nights, reader_.nights(campaign, {{}, 1}));
      newest_[campaign] = nights.empty() ? NightId{} : nights.front().id;
    }
    return {};
  }

  std::map<CampaignId, std::vector<Folder>> folders;

 private:
  base::Result<hypotheses::Night> night_of(NightId id) {
    auto found = nights_.find(id);
    if (found == nights_.end()) {
      NS_ASSIGN(night, reader_.night(id));
      if (!night)
        return base::fail(base::ErrorCode::corrupt, "an experiment of no night", id.text());
      night->manifest = {};
      found = nights_.emplace(id, std::move(*night)).first;
    }
    return found->second;
  }

  const store::Reader& reader_;
  const Needed needed_;
  const std::map<CampaignId, policies::RetentionRule>& rules_;
  std::map<CampaignId, NightId> newest_;
  std::map<NightId, hypotheses::Night> nights_;
};

// Which folders the rule no longer keeps: those that are too old, then the oldest of the others
// until the rest is small enough.
std::vector<Folder> to_delete(std::vector<Folder> folders, const policies::RetentionRule& rule,
                              base::Instant now) {
  constexpr double kDay_s = 86'400, kGiB = 1 << 30;
  std::sort(folders.begin(), folders.end(),
            [](const Folder& a, const Folder& b) { return a.experiment < b.experiment; });
  double left = 0;
  for (const Folder& folder : folders) left += static_cast<double>(folder.bytes);
  std::vector<Folder> go;
  auto let_go = [&](auto wanted) {
    for (Folder& folder : folders) {
      if (!folder.may_go || !wanted(folder)) continue;
      folder.may_go = false;
      left -= static_cast<double>(folder.bytes);
      go.push_back(folder);
    }
  };
  if (rule.artifacts_days > 0) {
    let_go([&](const Folder& folder) {
      return now.seconds_since(folder.ended) > kDay_s * rule.artifacts_days;
    });
  }
  if (rule.max_gib > 0) let_go([&](const Folder&) { return left > rule.max_gib * kGiB; });
  return go;
}

}  // namespace

base::Result<std::map<CampaignId, Swept>> sweep_artifacts(const fs::path& state, base::Instant now,
                                                          const std::stop_token& stop) {
  NS_ASSIGN(reader, store::Reader::open(state));
  NS_ASSIGN(campaigns, reader.campaigns());
  std::map<CampaignId, policies::RetentionRule> rules;
  for (const auto& campaign : campaigns) {
    NS_ASSIGN(policy, policies::read_policy(campaign.policy, campaign.id.text()));
    rules[campaign.id] = policy.retention;
  }
  NS_ASSIGN(needed, needed_by_merges(reader));
  Inventory inventory(reader, std::move(needed), rules);
  NS_TRY(inventory.find_newest_nights());
  std::error_code error;
  for (fs::directory_iterator at(state / "artifacts", error), end;
       !error && at != end && !stop.stop_requested(); at.increment(error)) {
    std::error_code gone;
    if (!at->is_symlink(gone) && at->is_directory(gone)) NS_TRY(inventory.add(at->path()));
  }
  std::map<CampaignId, Swept> swept;
  for (auto& [campaign, folders] : inventory.folders) {
    for (const Folder& folder : to_delete(std::move(folders), rules.at(campaign), now)) {
      if (stop.stop_requested()) return swept;
      NS_TRY(base::remove_tree(folder.path));
      ++swept[campaign].experiments;
      swept[campaign].bytes += folder.bytes;
    }
  }
  return swept;
}

Sweeper::Sweeper(fs::path state, const base::Clock& clock, std::function<void(Remark)> remark)
    : state_(std::move(state)), clock_(clock), remark_(std::move(remark)) {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    do {
      sweep(stop);
      (void)wakes_.pop(std::chrono::hours(24));
    } while (!wakes_.closed());
  });
}

Sweeper::~Sweeper() {
  thread_.request_stop();
  wakes_.close();
}

void Sweeper::sweep(const std::stop_token& stop) {
  const auto swept = sweep_artifacts(state_, clock_.now(), stop);
  if (!swept) return base::log_warning("old files were not deleted: " + swept.error().text());
  for (const auto& [campaign, gone] : *swept) {
    remark_({campaign, fmt::format("the files of {} old experiments were deleted ({:.1f} MiB), as "
                                   "the policy's retention says",
                                   gone.experiments, static_cast<double>(gone.bytes) / (1 << 20))});
  }
}

}  // namespace orchestrator
