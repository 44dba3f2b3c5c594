#include "store/git/checkout.h"

#include <git2.h>

#include <algorithm>
#include <system_error>

namespace store::git {
namespace fs = std::filesystem;
namespace {

bool is_ignore_file(std::string_view path) {
  return path == ".gitignore" || path.ends_with("/.gitignore");
}

// The files in which the index and the next commit differ.
struct Changes {
  std::vector<std::string> paths;
  std::vector<std::string> leaving;  // of these, what is in the index and not, or of another type,
                                     // in the commit
};
Result<Changes> changes_to(git_repository* worktree, git_tree* next) {
  const char* where = git_repository_path(worktree);
  Index index;
  NS_TRY(check(git_repository_index(into(index), worktree), "cannot open the index", where));
  Diff diff;
  NS_TRY(check(git_diff_tree_to_index(into(diff), worktree, next, index.get(), nullptr),
               "cannot compare the index", where));
  Changes out;
  for (std::size_t i = 0; i < git_diff_num_deltas(diff.get()); ++i) {
    const git_diff_delta* delta = git_diff_get_delta(diff.get(), i);
    out.paths.push_back(delta->new_file.path);
    // A file that turns into a link comes as two: one that goes and one that comes.
    if (delta->status == GIT_DELTA_ADDED) out.leaving.push_back(delta->new_file.path);
  }
  return out;
}

// Writes the paths as they are in the tree, to files and index. Only these are looked at: a second
// look at every file would double the time of a switch.
Status checkout(git_repository* worktree, git_tree* tree, Changes changes) {
  if (changes.paths.empty()) return {};  // an empty list would mean all of them
  const char* where = git_repository_workdir(worktree);
  Index index;
  NS_TRY(check(git_repository_index(into(index), worktree), "cannot open the index", where));
  // Their files are removed already. Checkout leaves out what changes its type and is not there.
  for (const std::string& path : changes.leaving) {
    NS_TRY(check(git_index_remove(index.get(), path.c_str(), 0), "cannot change the index", where));
  }
  git_checkout_options options;
  git_checkout_options_init(&options, GIT_CHECKOUT_OPTIONS_VERSION);
  options.checkout_strategy =
      GIT_CHECKOUT_FORCE | GIT_CHECKOUT_DISABLE_PATHSPEC_MATCH | GIT_CHECKOUT_NO_REFRESH;
  std::vector<char*> raw;
  for (std::string& path : changes.paths) raw.push_back(path.data());
  options.paths = {raw.data(), raw.size()};
  // Not HEAD, the default: after a kill between the two writes it may be another commit's.
  options.baseline_index = index.get();
  return check(git_checkout_tree(worktree, reinterpret_cast<git_object*>(tree), &options),
               "cannot check out (is the disk full, or the folder not ours to write?)", where);
}

// The path, or the first part of it that is no folder: a link there leads out of the tree, and what
// lies behind it is not ours to delete.
fs::path within(const fs::path& tree, const std::string& path) {
  std::error_code error;
  fs::path reached = tree;
  for (const fs::path& part : fs::path(path)) {
    if (part.empty()) break;  // a trailing '/': a repository of its own, left there by a build
    reached /= part;
    if (!fs::is_directory(fs::symlink_status(reached, error))) break;
  }
  return reached;
}

// Deletes the files, and the folders that are empty then.
Status remove_files(const fs::path& tree, const std::vector<std::string>& paths) {
  std::error_code error;
  for (const std::string& path : paths) {
    const fs::path file = within(tree, path);
    NS_TRY(remove_folder(file));
    for (fs::path up = file.parent_path(); up != tree && fs::is_empty(up, error) && !error;
         up = up.parent_path()) {
      if (!fs::remove(up, error)) break;
    }
  }
  return {};
}

std::string shown(const std::vector<std::string>& paths) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < paths.size() && i < kShown; ++i) text += " " + paths[i];
  if (paths.size() > kShown) text += " and " + std::to_string(paths.size() - kShown) + " more";
  return text;
}

}  // namespace

Result<Differences> differences(git_repository* worktree, Ignored ignored) {
  const std::string where = git_repository_workdir(worktree);
  Index index;
  NS_TRY(check(git_repository_index(into(index), worktree), "cannot open the index", where));
  git_diff_options options;
  git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
  options.flags = GIT_DIFF_INCLUDE_UNTRACKED | GIT_DIFF_RECURSE_UNTRACKED_DIRS |
                  GIT_DIFF_INCLUDE_TYPECHANGE | GIT_DIFF_UPDATE_INDEX;
  if (ignored == Ignored::remove) {
    options.flags |= GIT_DIFF_INCLUDE_IGNORED | GIT_DIFF_RECURSE_IGNORED_DIRS;
  }
  options.ignore_submodules = GIT_SUBMODULE_IGNORE_ALL;
  Diff diff;
  NS_TRY(check(git_diff_index_to_workdir(into(diff), worktree, index.get(), &options),
               "cannot compare the worktree", where));
  Differences out;
  for (std::size_t i = 0; i < git_diff_num_deltas(diff.get()); ++i) {
    const git_diff_delta* delta = git_diff_get_delta(diff.get(), i);
    const bool tracked = delta->status != GIT_DELTA_UNTRACKED && delta->status != GIT_DELTA_IGNORED;
    auto& paths = tracked ? out.changed : out.untracked;
    paths.push_back(delta->new_file.path);
  }
  return out;
}

Status switch_to(git_repository* worktree, const CommitId& commit, Ignored ignored) {
  const fs::path tree_path = git_repository_workdir(worktree);
  NS_ASSIGN(tree, load_tree(worktree, commit));
  // A comparison of our own first: it looks at the change time and the inode, where checkout trusts
  // size and modification time, which a candidate's build could restore after changing a source.
  NS_ASSIGN(dirty, differences(worktree, ignored));
  NS_ASSIGN(next, changes_to(worktree, tree.get()));
  // Whatever is to go or to be written is removed first: checkout writes through links, symbolic
  // and hard ones, that a build may have left in an ignored place, and keeps nested repositories.
  bool rules_change = false;
  for (const auto* paths : {&dirty.changed, &dirty.untracked, &next.paths}) {
    NS_TRY(remove_files(tree_path, *paths));
    rules_change |= std::any_of(paths->begin(), paths->end(), is_ignore_file);
  }
  next.paths.insert(next.paths.end(), dirty.changed.begin(), dirty.changed.end());
  NS_TRY(checkout(worktree, tree.get(), std::move(next)));
  // Untracked files were judged by the old rules; what the new ones do not ignore goes too.
  if (!rules_change) return {};
  NS_ASSIGN(left, differences(worktree, ignored));
  return remove_files(tree_path, left.untracked);
}

Status check_exactly(git_repository* worktree, const CommitId& commit) {
  const std::string where = git_repository_workdir(worktree);
  git_oid expected, head;
  NS_TRY(parse_id(commit, &expected));
  NS_TRY(check(git_reference_name_to_id(&head, worktree, "HEAD"), "cannot read HEAD", where));
  NS_ASSIGN(tree, load_tree(worktree, commit));
  Index index;
  NS_TRY(check(git_repository_index(into(index), worktree), "cannot open the index", where));
  Diff staged;
  NS_TRY(check(git_diff_tree_to_index(into(staged), worktree, tree.get(), index.get(), nullptr),
               "cannot compare the index", where));
  if (!git_oid_equal(&head, &expected) || git_diff_num_deltas(staged.get()) != 0) {
    return base::fail(base::ErrorCode::conflict,
                      "expected the worktree at " + commit.hex + ", found it at " +
                          id_of(head).hex + "; acquire it again",
                      where);
  }
  NS_ASSIGN(found, differences(worktree, Ignored::keep));
  if (found.changed.empty() && found.untracked.empty()) return {};
  std::string message = "expected a clean worktree, found";
  if (!found.changed.empty()) message += " changed:" + shown(found.changed) + ";";
  if (!found.untracked.empty()) message += " untracked:" + shown(found.untracked) + ";";
  return base::fail(base::ErrorCode::conflict, message + " acquire it again", where);
}

Result<std::vector<std::string>> submodules(git_repository* worktree) {
  Index index;
  NS_TRY(check(git_repository_index(into(index), worktree), "cannot open the index",
               git_repository_path(worktree)));
  std::vector<std::string> out;
  for (std::size_t i = 0; i < git_index_entrycount(index.get()); ++i) {
    const git_index_entry* entry = git_index_get_byindex(index.get(), i);
    if (entry->mode == GIT_FILEMODE_COMMIT) out.push_back(entry->path);
  }
  return out;
}

Status remove_folder(const fs::path& folder) {
  std::error_code error, ignored;
  fs::remove_all(folder, error);
  if (!error) return {};
  for (fs::recursive_directory_iterator it(folder, ignored), end; it != end;
       it.increment(ignored)) {
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) {
      fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
    }
  }
  error.clear();
  fs::remove_all(folder, error);
  if (!error) return {};
  return base::fail(base::ErrorCode::io, "cannot remove the folder: " + error.message(),
                    folder.string());
}

}  // namespace store::git
