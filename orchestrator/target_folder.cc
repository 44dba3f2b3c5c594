#include "orchestrator/target_folder.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/rng.h"

namespace orchestrator {

namespace {

constexpr std::size_t kDiffBytes = 256 << 10;

}  // namespace

base::Result<TargetFolder*> TargetFolders::of(const std::string& target) {
  std::lock_guard lock(mutex_);
  auto found = folders_.find(target);
  if (found != folders_.end()) return &found->second;
  std::string name = fmt::format("{:016x}", base::seed_from(0, target));
  std::filesystem::path folder = state_ / "targets" / name;
  NS_TRY(base::ensure_folder(folder));
  NS_ASSIGN(mirror, store::git::Mirror::open(folder / "mirror.git", target));
  auto pool = std::make_unique<store::git::WorktreePool>(folder / "workspaces", mirror);
  auto [entry, added] = folders_.emplace(target, TargetFolder{std::move(mirror), std::move(pool)});
  return &entry->second;
}

base::Result<std::string> TargetFolders::diff(const hypotheses::CommitId& base,
                                              const hypotheses::CommitId& candidate) {
  std::vector<store::git::Mirror> mirrors;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [target, folder] : folders_) mirrors.push_back(folder.mirror);
  }
  for (const auto& mirror : mirrors) {
    if (auto text = mirror.diff_text(base, candidate, kDiffBytes)) return text;
  }
  return base::fail(base::ErrorCode::not_found,
                    "no mirror holds both commits; a night of the campaign fetches them",
                    base.brief() + ".." + candidate.brief());
}

}  // namespace orchestrator
