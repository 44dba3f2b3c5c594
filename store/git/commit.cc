// Mirror: commits made of changed files.
#include "store/git/commit.h"

#include <git2.h>

#include <cstring>
#include <set>

#include "store/git/names.h"
#include "store/git/refs.h"
#include "store/git/repository.h"

namespace store::git {
namespace {

Result<Signature> author_of(const CommitText& text) {
  // Rounds down also before 1970.
  const std::int64_t seconds = text.time.ms / 1000 - (text.time.ms % 1000 < 0 ? 1 : 0);
  Signature signature;
  NS_TRY(check(git_signature_new(into(signature), text.author_name.c_str(),
                                 text.author_email.c_str(), seconds, 0),
               "expected an author's name and address, neither empty nor with <, > or a line break",
               text.author_name + " <" + text.author_email + ">"));
  return signature;
}

base::Status bad_change(std::string message, const std::string& path) {
  return base::fail(base::ErrorCode::bad_input, std::move(message), path);
}

bool is_folder(git_index* index, const std::string& path) {
  std::size_t at = 0;
  return git_index_find_prefix(&at, index, (path + "/").c_str()) == 0;
}

// The mode the written file gets; an error where something that is no file stands in its way.
Result<std::uint32_t> mode_for(git_index* index, const std::string& path) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    if (git_index_get_bypath(index, parent.c_str(), 0)) {
      NS_TRY(bad_change("expected a folder at '" + parent + "', found a file, link or submodule",
                        path));
    }
  }
  if (is_folder(index, path)) NS_TRY(bad_change("expected a file, found a folder", path));
  const git_index_entry* entry = git_index_get_bypath(index, path.c_str(), 0);
  if (!entry) return static_cast<std::uint32_t>(GIT_FILEMODE_BLOB);
  if (entry->mode == GIT_FILEMODE_LINK || entry->mode == GIT_FILEMODE_COMMIT) {
    NS_TRY(
        bad_change("expected a regular file, found a symbolic link or a submodule; change what "
                   "it points to instead",
                   path));
  }
  return entry->mode;
}

Status put(git_index* index, const std::string& path, std::uint32_t mode, const git_oid& blob) {
  git_index_entry entry;
  std::memset(&entry, 0, sizeof entry);
  entry.path = path.c_str();
  entry.mode = mode;
  entry.id = blob;
  return check(git_index_add(index, &entry), "git refuses this path", path);
}

Status write_file(git_repository* repo, git_index* index, const FileChange& change) {
  NS_ASSIGN(mode, mode_for(index, change.path));
  git_oid blob;
  NS_TRY(check(
      git_blob_create_from_buffer(&blob, repo, change.content->data(), change.content->size()),
      "cannot store the file", change.path));
  return put(index, change.path, mode, blob);
}

Status delete_file(git_index* index, const FileChange& change) {
  if (!git_index_get_bypath(index, change.path.c_str(), 0)) {
    return bad_change("expected a file to delete, found none", change.path);
  }
  return check(git_index_remove(index, change.path.c_str(), 0), "cannot delete", change.path);
}

// Removes what the candidate put in a protected path's way: a file, or a link to elsewhere, where
// the path needs a folder; a folder where it needs a file.
Status clear_way(git_index* index, const std::string& path) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    if (git_index_get_bypath(index, parent.c_str(), 0)) {
      NS_TRY(check(git_index_remove(index, parent.c_str(), 0), "cannot remove", parent));
    }
  }
  if (!is_folder(index, path)) return {};
  return check(git_index_remove_directory(index, path.c_str(), 0), "cannot remove", path);
}

Status check_changes(const std::vector<FileChange>& changes) {
  std::set<std::string_view> seen;
  for (const FileChange& change : changes) {
    NS_TRY(check_path(change.path));
    if (!seen.insert(change.path).second) {
      NS_TRY(bad_change("expected one change a file, found two", change.path));
    }
  }
  return {};
}

}  // namespace

Result<Index> index_of(git_repository* repo, const CommitId& commit) {
  NS_ASSIGN(tree, load_tree(repo, commit));
  Index index;
  NS_TRY(check(git_index_new(into(index)), "cannot make an index", commit.hex));
  NS_TRY(check(git_index_read_tree(index.get(), tree.get()), "cannot read the tree", commit.hex));
  return index;
}

Result<CommitId> write_commit(git_repository* repo, git_index* index,
                              const std::vector<CommitId>& parents, const CommitText& text,
                              std::string_view branch, bool may_be_empty) {
  NS_ASSIGN(message, compose(text));
  NS_ASSIGN(author, author_of(text));
  git_oid tree_oid, oid;
  NS_TRY(check(git_index_write_tree_to(&tree_oid, index, repo), "cannot write the tree",
               text.subject));
  std::vector<Commit> commits;
  std::vector<const git_commit*> raw;
  for (const CommitId& id : parents) {
    NS_ASSIGN(commit, load_commit(repo, id));
    raw.push_back(commit.get());
    commits.push_back(std::move(commit));
  }
  if (!may_be_empty && git_oid_equal(git_commit_tree_id(raw[0]), &tree_oid)) {
    return base::fail(base::ErrorCode::bad_input,
                      "this changes nothing in commit " + parents[0].hex, text.subject);
  }
  Tree tree;
  NS_TRY(check(git_tree_lookup(into(tree), repo, &tree_oid), "cannot read the tree back",
               text.subject));
  NS_TRY(check(git_commit_create(&oid, repo, nullptr, author.get(), author.get(), nullptr,
                                 message.c_str(), tree.get(), raw.size(), raw.data()),
               "cannot write the commit", text.subject));
  const CommitId id = id_of(oid);
  if (!branch.empty()) NS_TRY(set_ref(repo, kHeads + std::string(branch), id));
  return id;
}

Result<CommitId> Mirror::commit_files(const CommitId& parent,
                                      const std::vector<FileChange>& changes,
                                      const CommitText& text, std::string_view branch) const {
  NS_TRY(check_night_branch(branch));
  NS_TRY(check_changes(changes));
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(index, index_of(repo.get(), parent));
  // Deletions first, so that a file may make way for a folder of its name.
  for (const FileChange& change : changes) {
    if (!change.content) NS_TRY(delete_file(index.get(), change));
  }
  for (const FileChange& change : changes) {
    if (change.content) NS_TRY(write_file(repo.get(), index.get(), change));
  }
  return write_commit(repo.get(), index.get(), {parent}, text, branch, false);
}

Result<CommitId> Mirror::overlay_protected(
    const CommitId& candidate, const CommitId& base,
    const std::function<bool(std::string_view path)>& is_protected, const CommitText& text,
    std::string_view branch) const {
  NS_TRY(check_night_branch(branch));
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(index, index_of(repo.get(), candidate));
  NS_ASSIGN(candidate_tree, load_tree(repo.get(), candidate));
  NS_ASSIGN(base_tree, load_tree(repo.get(), base));
  Diff diff;
  NS_TRY(check(
      git_diff_tree_to_tree(into(diff), repo.get(), candidate_tree.get(), base_tree.get(), nullptr),
      "cannot compare", candidate.brief() + ".." + base.brief()));
  std::vector<const git_diff_delta*> restored;
  bool differs = false;
  for (std::size_t i = 0; i < git_diff_num_deltas(diff.get()); ++i) {
    const git_diff_delta* delta = git_diff_get_delta(diff.get(), i);
    if (!is_protected(delta->new_file.path)) continue;
    differs = true;
    if (delta->status != GIT_DELTA_DELETED) {
      restored.push_back(delta);
      continue;
    }
    NS_TRY(check(git_index_remove(index.get(), delta->old_file.path, 0), "cannot remove",
                 delta->old_file.path));
  }
  if (!differs) return candidate;
  for (const git_diff_delta* delta : restored) {
    NS_TRY(clear_way(index.get(), delta->new_file.path));
    NS_TRY(put(index.get(), delta->new_file.path, delta->new_file.mode, delta->new_file.id));
  }
  return write_commit(repo.get(), index.get(), {candidate}, text, branch, false);
}

}  // namespace store::git
