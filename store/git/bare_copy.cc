#include "store/git/bare_copy.h"

#include <git2.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/files.h"
#include "store/git/commit.h"
#include "store/git/handles.h"
#include "store/git/refs.h"
#include "store/git/target.h"

namespace store::git {

using base::ErrorCode;
namespace fs = std::filesystem;

namespace {

// Folders that hold no sources: hidden ones, build outputs, installed packages.
bool left_out(const std::string& name) {
  return name.rfind('.', 0) == 0 || name.rfind("build", 0) == 0 || name == "node_modules";
}

Result<std::vector<fs::path>> files_below(const fs::path& source) {
  std::vector<fs::path> files;
  std::error_code failed;
  fs::recursive_directory_iterator entry(source, failed), end;
  for (; !failed && entry != end; entry.increment(failed)) {
    std::string name = entry->path().filename().string();
    bool folder = entry->is_directory() && !entry->is_symlink();
    bool hidden_file = !folder && name.rfind('.', 0) == 0;
    if (folder && left_out(name) && name != ".ci") {
      entry.disable_recursion_pending();
    } else if (!folder && (entry->is_regular_file() || hidden_file)) {
      files.push_back(fs::relative(entry->path(), source));
    }
  }
  if (failed) return base::fail(ErrorCode::io, failed.message(), source.string());
  return files;
}

// The files as one commit without a parent.
Result<CommitId> commit_folder(git_repository* repo, const fs::path& source, base::Instant time) {
  NS_ASSIGN(files, files_below(source));
  Index index;
  NS_TRY(check(git_index_new(into(index)), "make an index", ""));
  for (const fs::path& file : files) {
    git_index_entry entry{};
    std::string name = file.generic_string();
    entry.path = name.c_str();
    bool executable =
        (fs::status(source / file).permissions() & fs::perms::owner_exec) != fs::perms::none;
    entry.mode = executable ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB;
    NS_TRY(check(git_blob_create_from_disk(&entry.id, repo, (source / file).c_str()),
                 "read a file into the repository", (source / file).string()));
    NS_TRY(check(git_index_add(index.get(), &entry), "add a file", name));
  }
  CommitText text{
      "Import " + source.filename().string(), "", {}, "Nightshift", "nightshift@localhost", time};
  return write_commit(repo, index.get(), {}, text, "", true);
}

// Fetches the commit that `source` has checked out; nothing when it is no repository or one that
// cannot be copied.
std::optional<CommitId> fetch_head(git_repository* bare, const fs::path& source) {
  auto from = open_target(source);
  if (!from) return {};
  git_oid head;
  if (git_reference_name_to_id(&head, from->get(), "HEAD") != 0) return {};
  git_remote* raw = nullptr;
  if (git_remote_create_anonymous(&raw, bare, source.c_str()) != 0) return {};
  std::unique_ptr<git_remote, decltype(&git_remote_free)> remote(raw, &git_remote_free);
  char head_spec[] = "+HEAD:refs/source-head";
  char* specs[] = {head_spec};
  git_strarray wanted{specs, 1};
  if (git_remote_fetch(remote.get(), &wanted, nullptr, nullptr) != 0) return {};
  git_reference_remove(bare, "refs/source-head");
  return id_of(head);
}

}  // namespace

Result<CommitId> make_bare_copy(const fs::path& source, const fs::path& bare,
                                const std::string& branch, base::Instant time) {
  start_library();
  if (fs::exists(bare)) {
    return base::fail(ErrorCode::conflict, "there is something already", bare.string());
  }
  if (!fs::is_directory(source)) {
    return base::fail(ErrorCode::not_found, "no such folder", source.string());
  }
  NS_TRY(base::ensure_folder(bare.parent_path()));
  Repository repo;
  NS_TRY(check(git_repository_init(into(repo), bare.c_str(), 1), "create a bare repository",
               bare.string()));
  NS_TRY(check(git_repository_set_head(repo.get(), (kHeads + branch).c_str()), "set HEAD",
               bare.string()));
  auto fetched = fetch_head(repo.get(), source);
  if (!fetched) {
    NS_ASSIGN(imported, commit_folder(repo.get(), source, time));
    fetched = imported;
  }
  NS_TRY(set_ref(repo.get(), kHeads + branch, *fetched));
  return *fetched;
}

}  // namespace store::git
