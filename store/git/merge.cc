// Mirror: merges and reverts, in memory.
#include <git2.h>

#include <set>

#include "store/git/commit.h"
#include "store/git/names.h"
#include "store/git/repository.h"

namespace store::git {
namespace {

Result<Conflicts> conflicts_in(git_index* index) {
  ConflictIterator conflicts;
  NS_TRY(
      check(git_index_conflict_iterator_new(into(conflicts), index), "cannot list conflicts", ""));
  std::set<std::string> paths;
  const git_index_entry *ancestor, *ours, *theirs;
  int code = 0;
  while ((code = git_index_conflict_next(&ancestor, &ours, &theirs, conflicts.get())) == 0) {
    for (const git_index_entry* entry : {ancestor, ours, theirs}) {
      if (entry) paths.insert(entry->path);
    }
  }
  if (code != GIT_ITEROVER) NS_TRY(check(code, "cannot list conflicts", ""));
  return Conflicts{{paths.begin(), paths.end()}};
}

Result<MergeOutcome> finish(git_repository* repo, git_index* index,
                            const std::vector<CommitId>& parents, const CommitText& text,
                            std::string_view branch) {
  if (git_index_has_conflicts(index)) {
    NS_ASSIGN(conflicts, conflicts_in(index));
    return MergeOutcome(std::move(conflicts));
  }
  NS_ASSIGN(commit, write_commit(repo, index, parents, text, branch, parents.size() > 1));
  return MergeOutcome(Merged{commit});
}

}  // namespace

Result<MergeOutcome> Mirror::merge(const CommitId& base, const CommitId& candidate,
                                   const CommitText& text, std::string_view branch) const {
  if (!branch.empty()) NS_TRY(check_night_branch(branch));
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(ours, load_commit(repo.get(), base));
  NS_ASSIGN(theirs, load_commit(repo.get(), candidate));
  NS_ASSIGN(merged_already, contains(base, candidate));
  if (merged_already) {
    return base::fail(base::ErrorCode::bad_input,
                      "expected a candidate that base does not contain yet, found " + candidate.hex,
                      "base " + base.hex);
  }
  Index index;
  NS_TRY(check(git_merge_commits(into(index), repo.get(), ours.get(), theirs.get(), nullptr),
               "cannot merge", candidate.brief() + " into " + base.brief()));
  return finish(repo.get(), index.get(), {base, candidate}, text, branch);
}

Result<MergeOutcome> Mirror::revert(const CommitId& base, const CommitId& landed,
                                    const CommitText& text, std::string_view branch) const {
  if (!branch.empty()) NS_TRY(check_night_branch(branch));
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(ours, load_commit(repo.get(), base));
  NS_ASSIGN(undone, load_commit(repo.get(), landed));
  const unsigned mainline = git_commit_parentcount(undone.get()) > 1 ? 1 : 0;
  Index index;
  NS_TRY(
      check(git_revert_commit(into(index), repo.get(), undone.get(), ours.get(), mainline, nullptr),
            "cannot revert", landed.brief() + " on " + base.brief()));
  return finish(repo.get(), index.get(), {base}, text, branch);
}

}  // namespace store::git
