// Mirror::land: the one place where a ref of the user's changes.
#include <git2.h>

#include "store/git/names.h"
#include "store/git/refs.h"
#include "store/git/remote.h"
#include "store/git/repository.h"
#include "store/git/target.h"
#include "store/git/transfer.h"

namespace store::git {
namespace fs = std::filesystem;
namespace {

Result<bool> holds(git_repository* repo, const CommitId& tip, const CommitId& id) {
  git_oid tip_oid, oid;
  NS_TRY(parse_id(tip, &tip_oid));
  NS_TRY(parse_id(id, &oid));
  return contains(repo, tip_oid, oid);
}

// Where the target's line stands: the branch, and a landed commit ahead of it that the user has
// not taken yet. Landing on the branch's tip while one waits would drop an approved merge.
struct Line {
  CommitId branch;
  std::optional<CommitId> landed;  // what refs/heads/nightshift/landed holds
  bool waiting = false;            // landed is ahead of branch
  const CommitId& tip() const { return waiting ? *landed : branch; }
};

Result<Line> read_line(git_repository* target, const std::string& ref,
                       const std::string& landed_ref) {
  NS_ASSIGN(branch, ref_tip(target, ref));
  if (!branch) {
    return base::fail(base::ErrorCode::not_found,
                      "expected the base branch in the target, found none; was it deleted?", ref);
  }
  NS_ASSIGN(landed, ref_tip(target, landed_ref));
  Line line{*branch, landed};
  if (landed && *landed != *branch) {
    NS_ASSIGN(ahead, holds(target, *landed, *branch));
    line.waiting = ahead;
  }
  return line;
}

std::string merge_instruction(const std::string& branch, const fs::path& tree) {
  return "branch " + branch + " is checked out at " + tree.string() +
         "; to take the merge, run there: git merge --ff-only " + kLandedBranch;
}

// Only a descendant may land: anything else would drop commits of the user's.
Status check_descends(git_repository* mirror, const CommitId& old_commit,
                      const CommitId& new_commit) {
  NS_TRY(load_commit(mirror, old_commit));
  NS_TRY(load_commit(mirror, new_commit));
  NS_ASSIGN(descends, holds(mirror, new_commit, old_commit));
  if (descends) return {};
  return base::fail(base::ErrorCode::bad_input,
                    "expected a commit that contains " + old_commit.hex +
                        ", found one that does not; merge it first",
                    new_commit.hex);
}

Result<Landing> land_beside(git_repository* target, const std::string& branch, const Line& line,
                            const fs::path& tree, const std::string& landed_ref,
                            const CommitId& new_commit) {
  if (const auto landed_tree = checked_out_at(target, landed_ref)) {
    return base::fail(base::ErrorCode::conflict,
                      std::string(kLandedBranch) +
                          " is checked out and cannot be moved; switch "
                          "to another branch there, then land again",
                      landed_tree->string());
  }
  NS_TRY(swap_ref(target, landed_ref, line.landed, new_commit, "nightshift: landed"));
  return Landing{landed_ref, false, merge_instruction(branch, tree)};
}

}  // namespace

Result<Landing> Mirror::push(std::string_view branch, const CommitId& expected_old,
                             const CommitId& new_commit) const {
  NS_ASSIGN(mirror, open_repository(path_));
  const std::string name(branch), ref = kHeads + name;
  const Status pushed = push_commit(mirror.get(), url_, ref, expected_old, new_commit);
  if (pushed) return Landing{ref, true, ""};
  if (pushed.error().code != base::ErrorCode::conflict) return tl::unexpected(pushed.error());
  // Others may have gone on from it: then it has landed already.
  NS_ASSIGN(heads, fetch_heads(mirror.get(), url_));
  const auto tip = heads.find(name);
  if (tip == heads.end()) return tl::unexpected(pushed.error());
  NS_ASSIGN(landed_already, holds(mirror.get(), tip->second, new_commit));
  if (landed_already) return Landing{ref, true, ""};
  return tl::unexpected(pushed.error());
}

Result<Landing> Mirror::land(const fs::path& target_path, std::string_view branch,
                             const CommitId& expected_old, const CommitId& new_commit) const {
  NS_TRY(check_branch(branch));
  NS_ASSIGN(mirror, open_repository(path_));
  NS_TRY(check_descends(mirror.get(), expected_old, new_commit));
  if (!url_.empty()) return push(branch, expected_old, new_commit);
  NS_ASSIGN(target, open_target(target_path));
  const std::string name(branch), ref = kHeads + name;
  const std::string landed_ref = std::string(kHeads) + kLandedBranch;
  NS_ASSIGN(line, read_line(target.get(), ref, landed_ref));

  NS_ASSIGN(landed_already, holds(target.get(), line.branch, new_commit));
  if (landed_already) return Landing{ref, true, ""};
  auto tree = checked_out_at(target.get(), ref);
  if (tree && line.waiting) {
    NS_ASSIGN(waits_already, holds(target.get(), *line.landed, new_commit));
    if (waits_already) return Landing{landed_ref, false, merge_instruction(name, *tree)};
  }
  // A waiting commit is the line's tip; landing it itself, once the branch is free, is no conflict.
  const bool frees_waiting = line.waiting && *line.landed == new_commit;
  if (line.tip() != expected_old && !(frees_waiting && line.branch == expected_old)) {
    return base::fail(base::ErrorCode::conflict,
                      "expected " + expected_old.hex + ", found " + line.tip().hex +
                          "; it moved meanwhile, merge onto that commit and land again",
                      line.waiting ? landed_ref : ref);
  }
  NS_TRY(copy_commits(mirror.get(), target.get(), {new_commit}, {line.tip()}));
  // Looked at again, since copying took time. A checkout between here and the swap is not seen;
  // git has no lock that would cover it.
  tree = checked_out_at(target.get(), ref);
  if (tree) return land_beside(target.get(), name, line, *tree, landed_ref, new_commit);
  NS_TRY(swap_ref(target.get(), ref, line.branch, new_commit, "nightshift: landed"));
  return Landing{ref, true, ""};
}

}  // namespace store::git
