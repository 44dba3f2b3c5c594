#include "store/git/worktree_pool.h"

#include <git2.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "store/git/checkout.h"
#include "store/git/handles.h"
#include "store/git/names.h"

namespace store::git {
namespace fs = std::filesystem;

// The files of one slot: below the root, and in the mirror.
struct SlotPaths {
  fs::path folder, tree, build, gitdir;
  SlotPaths(const fs::path& root, const fs::path& mirror, std::string_view slot)
      : folder(root / slot),
        tree(folder / "tree"),
        build(folder / "build"),
        gitdir(mirror / "worktrees" / slot) {}
};

namespace {

constexpr const char* kDiscarded = "discarded";  // a build folder on its way out

Status io_failure(const std::string& what, const fs::path& where, const std::error_code& error) {
  return base::fail(base::ErrorCode::io, what + ": " + error.message(), where.string());
}

bool file_holds(const fs::path& path, const std::string& content) {
  std::error_code error;
  // A build may have put a link or a pipe there; neither is opened.
  if (!fs::is_regular_file(fs::symlink_status(path, error))) return false;
  std::ifstream in(path, std::ios::binary);
  return in && std::string(std::istreambuf_iterator<char>(in), {}) == content;
}

// Renamed into place, so that a reader never sees half of it.
Status put_file(const fs::path& path, const std::string& content) {
  if (file_holds(path, content)) return {};
  const fs::path next = path.string() + ".new";
  NS_TRY(remove_folder(next));
  std::ofstream out(next, std::ios::binary | std::ios::trunc);
  out << content;
  out.close();
  std::error_code error;
  if (out) fs::rename(next, path, error);
  if (out && !error) return {};
  return io_failure("cannot write", path, error);
}

Status make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return io_failure("cannot create the folder", path, error);
  return {};
}

// A linked worktree is these four small files (gitrepository-layout(5)). They are written here
// because git_worktree_add makes a branch for each and cannot take up one that was left half done;
// writing them again both creates and repairs. HEAD is only made readable here; the switch sets it.
Status put_worktree(const SlotPaths& slot, const CommitId& commit) {
  NS_TRY(make_folder(slot.gitdir));
  std::error_code error;
  for (const char* lock : {"index.lock", "HEAD.lock", "config.worktree.lock"}) {
    fs::remove(slot.gitdir / lock, error);
  }
  if (fs::is_symlink(slot.tree, error)) fs::remove(slot.tree, error);
  NS_TRY(make_folder(slot.tree));
  NS_TRY(put_file(slot.gitdir / "commondir", "../..\n"));
  NS_TRY(put_file(slot.gitdir / "gitdir", (slot.tree / ".git").string() + "\n"));
  std::ifstream head(slot.gitdir / "HEAD");
  std::string line;
  std::getline(head, line);
  git_oid oid;
  if (!parse_id({line}, &oid)) NS_TRY(put_file(slot.gitdir / "HEAD", commit.hex + "\n"));
  if (fs::is_directory(fs::symlink_status(slot.tree / ".git", error))) {
    NS_TRY(remove_folder(slot.tree / ".git"));
  }
  return put_file(slot.tree / ".git", "gitdir: " + slot.gitdir.string() + "\n");
}

}  // namespace

WorktreePool::WorktreePool(const fs::path& root, const Mirror& mirror) {
  // git stores these paths; relative ones would be read from another folder.
  std::error_code error;
  root_ = fs::absolute(root, error).lexically_normal();
  mirror_ = fs::absolute(mirror.path(), error).lexically_normal();
}

// A slot's files, and its worktree, which stays open: reading the index of many files costs as much
// as comparing them.
struct WorktreePool::Slot {
  explicit Slot(SlotPaths the_paths) : paths(std::move(the_paths)) {}

  // Through the mirror's side, not through tree/.git: a build may have written there. What it has
  // changed since the last time, index and rules for names, is read again.
  Result<git_repository*> open() {
    std::error_code error;
    if (!fs::exists(paths.gitdir / "index", error)) worktree.reset();
    if (!worktree) {
      NS_ASSIGN(opened, open_repository(paths.gitdir));
      worktree = std::move(opened);
      return worktree.get();
    }
    const std::string where = paths.gitdir.string();
    NS_TRY(check(git_attr_cache_flush(worktree.get()), "cannot forget the attributes", where));
    Index index;
    NS_TRY(
        check(git_repository_index(into(index), worktree.get()), "cannot open the index", where));
    NS_TRY(check(git_index_read(index.get(), 0), "cannot read the index", where));
    return worktree.get();
  }

  Status switch_to(const CommitId& commit, Ignored ignored) {
    NS_TRY(put_worktree(paths, commit));
    NS_ASSIGN(opened, open());
    NS_TRY(git::switch_to(opened, commit, ignored));
    return put_file(paths.gitdir / "HEAD", commit.hex + "\n");
  }

  // What a killed process left may be beyond repair, a torn index for one; then it starts over.
  Status switch_or_create(const CommitId& commit, Ignored ignored) {
    if (switch_to(commit, ignored)) return {};
    worktree.reset();
    NS_TRY(remove_folder(paths.tree));
    NS_TRY(remove_folder(paths.gitdir));
    return switch_to(commit, Ignored::keep);
  }

  const SlotPaths paths;
  std::mutex mutex;     // held by whoever uses the slot
  Repository worktree;  // guarded by mutex
};

WorktreePool::~WorktreePool() = default;

WorktreePool::Slot& WorktreePool::slot_of(std::string_view name) {
  std::lock_guard guard(mutex_);
  auto& slot = slots_[std::string(name)];
  if (!slot) slot = std::make_unique<Slot>(SlotPaths(root_, mirror_, name));
  return *slot;
}

Result<Workspace> WorktreePool::acquire(std::string_view name, const CommitId& commit,
                                        Ignored ignored) {
  NS_TRY(check_slot(name));
  Slot& slot = slot_of(name);
  std::lock_guard guard(slot.mutex);
  {
    // Before anything is touched: a wrong id must not cost a warm slot.
    NS_ASSIGN(mirror, open_repository(mirror_));
    NS_TRY(load_commit(mirror.get(), commit));
  }
  NS_TRY(slot.switch_or_create(commit, ignored));
  NS_TRY(remove_folder(slot.paths.folder / kDiscarded));
  NS_TRY(make_folder(slot.paths.build));
  NS_ASSIGN(missing, submodules(slot.worktree.get()));
  Workspace workspace{slot.paths.tree, slot.paths.build, commit, std::string(name), {}};
  for (const std::string& path : missing) {
    workspace.warnings.push_back("submodule '" + path +
                                 "' is not checked out: submodules are not "
                                 "supported, its folder is empty");
  }
  return workspace;
}

Status WorktreePool::discard_build(std::string_view name) {
  NS_TRY(check_slot(name));
  Slot& held = slot_of(name);
  std::lock_guard guard(held.mutex);
  const SlotPaths& slot = held.paths;
  // Renamed first: what is left of a removal that was killed must not look like a warm build.
  NS_TRY(remove_folder(slot.folder / kDiscarded));
  std::error_code error;
  fs::rename(slot.build, slot.folder / kDiscarded, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  if (error) return io_failure("cannot discard the build folder", slot.build, error);
  return remove_folder(slot.folder / kDiscarded);
}

Status WorktreePool::verify_clean(const Workspace& workspace) {
  NS_TRY(check_slot(workspace.slot));
  Slot& slot = slot_of(workspace.slot);
  std::lock_guard guard(slot.mutex);
  NS_ASSIGN(worktree, slot.open());
  return check_exactly(worktree, workspace.commit);
}

Status WorktreePool::remove(std::string_view name) {
  NS_TRY(check_slot(name));
  Slot& held = slot_of(name);
  std::lock_guard guard(held.mutex);
  const SlotPaths& slot = held.paths;
  held.worktree.reset();
  // The mirror's side first: a tree without it is no worktree, and acquire() makes it one again.
  NS_TRY(remove_folder(slot.gitdir));
  return remove_folder(slot.folder);
}

std::vector<std::string> WorktreePool::slots() const {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(root_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (check_slot(name) && it->is_directory(error)) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace store::git
