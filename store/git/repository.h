// The daemon's private bare mirror of the target: it reads and writes commits here, and changes a
// ref of the target in one place only, land().
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "hypotheses/ids.h"
#include "store/git/message.h"

namespace store::git {

using base::Result;
using base::Status;
using hypotheses::CommitId;

struct FileChange {
  std::string path;                    // relative to the repository's root
  std::optional<std::string> content;  // nullopt deletes the file
};

struct Merged {
  CommitId commit;
};
struct Conflicts {
  std::vector<std::string> paths;
};  // sorted
using MergeOutcome = std::variant<Merged, Conflicts>;

// A branch that somebody pushed under try/ in the target.
struct TryBranch {
  std::string name;  // "try/wider-tiles"
  CommitId tip;
  std::string message;
  Trailers trailers;
};

struct Landing {
  std::string landed_ref;             // the full name of the target's ref that now holds the commit
  bool base_moved_to_commit = false;  // false: the base branch is checked out and was left alone
  std::string instruction;            // then, what the user runs to take it; empty otherwise
};

// A value (two paths): copy it freely. Each call opens its own handle, so calls from several
// threads are safe; fetch() alone wants one caller at a time.
class Mirror {
 public:
  // Opens the mirror, or creates it and fetches. `target` is a local path, a file:// URL, or the
  // URL of a repository that is reached over a network (https, ssh, user@host:path). The caller
  // holds the daemon's state lock: lock files found inside are leftovers of a killed process and
  // are removed.
  static Result<Mirror> open(std::filesystem::path mirror_dir, const std::string& target);

  const std::filesystem::path& path() const { return path_; }
  // Empty for a target that is reached over a network.
  const std::filesystem::path& target() const { return target_; }

  // Brings the target's branches to refs/remotes/target/*, forced and pruned.
  Status fetch();

  // The tip of the target's branch as of the last fetch.
  Result<CommitId> base_commit(std::string_view branch) const;
  // What the next candidate has to be merged onto: the branch's tip, or the target's
  // nightshift/landed where that is ahead of it and still waits for the user (see land()).
  Result<CommitId> landing_tip(std::string_view branch) const;
  // A full ref, a branch of ours, a branch of the target, or a commit's 40 digits.
  Result<CommitId> resolve(std::string_view name) const;
  // The target's branches below try/, sorted by name.
  Result<std::vector<TryBranch>> try_branches() const;

  // The bytes of a regular file.
  Result<std::string> file_at(const CommitId& commit, std::string_view path) const;
  // Files and symbolic links, in git's order; submodules are not files.
  Result<std::vector<std::string>> list_files(const CommitId& commit) const;
  // What a checkout of the commit will not hold, each with what to do about it, sorted by path:
  // submodules, and contents that git-lfs keeps elsewhere.
  Result<std::vector<std::string>> lacks(const CommitId& commit) const;
  // Sorted; a rename counts as both of its paths.
  Result<std::vector<std::string>> changed_paths(const CommitId& a, const CommitId& b) const;
  // A unified diff of at most about `max_bytes`, cut at a line with a note of what was left out.
  Result<std::string> diff_text(const CommitId& a, const CommitId& b, std::size_t max_bytes) const;
  // Whether `commit` is `tip` or one of its ancestors.
  Result<bool> contains(const CommitId& tip, const CommitId& commit) const;

  // A commit with the changes on top of `parent`; refs/heads/<branch> (night/...) is set to it.
  // Files keep their mode. bad_input when nothing would change.
  Result<CommitId> commit_files(const CommitId& parent, const std::vector<FileChange>& changes,
                                const CommitText& text, std::string_view branch) const;

  // The merge commit of (base, candidate), made in memory, never a fast-forward. A branch, where
  // given, is set to it. bad_input when base already contains the candidate.
  Result<MergeOutcome> merge(const CommitId& base, const CommitId& candidate,
                             const CommitText& text, std::string_view branch = {}) const;

  // The commit on top of `base` that undoes `landed`; of a merge it undoes what its second parent
  // brought.
  Result<MergeOutcome> revert(const CommitId& base, const CommitId& landed, const CommitText& text,
                              std::string_view branch = {}) const;

  // The candidate with every protected path as it is in base: changed and deleted ones restored,
  // added ones removed. The candidate itself (and no branch) when nothing differs.
  Result<CommitId> overlay_protected(const CommitId& candidate, const CommitId& base,
                                     const std::function<bool(std::string_view path)>& is_protected,
                                     const CommitText& text, std::string_view branch) const;

  // Moves the target's branch from `expected_old` to `new_commit`, a descendant of it, by
  // compare-and-swap under the ref's lock; conflict, naming the commit found, if it moved.
  // A branch that is checked out in any worktree of the target is not moved: the commit lands on
  // refs/heads/nightshift/landed instead, by the same rule. No working tree or index is touched.
  // Landing what has landed already succeeds. The target's hooks are not run. To a target that is
  // reached over a network the commit is pushed (`target_path` empty), compared and swapped there.
  Result<Landing> land(const std::filesystem::path& target_path, std::string_view branch,
                       const CommitId& expected_old, const CommitId& new_commit) const;

 private:
  Mirror(std::filesystem::path path, std::filesystem::path target, std::string url)
      : path_(std::move(path)), target_(std::move(target)), url_(std::move(url)) {}
  Result<Landing> push(std::string_view branch, const CommitId& expected_old,
                       const CommitId& new_commit) const;
  std::string name() const { return url_.empty() ? target_.string() : url_; }

  std::filesystem::path path_;
  std::filesystem::path target_;  // empty, or
  std::string url_;               // empty
};

}  // namespace store::git
