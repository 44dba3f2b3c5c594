// RAII for libgit2's objects and one way to turn its return codes into our errors. Private to
// this folder: libgit2's own headers stay in the .cc files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hypotheses/ids.h"

struct git_blob;
struct git_commit;
struct git_config;
struct git_diff;
struct git_index;
struct git_index_conflict_iterator;
struct git_odb;
struct git_oid;
struct git_packbuilder;
struct git_reference;
struct git_reference_iterator;
struct git_remote;
struct git_repository;
struct git_revwalk;
struct git_signature;
struct git_transaction;
struct git_tree;
struct git_tree_entry;

namespace store::git {

using base::Result;
using base::Status;
using hypotheses::CommitId;

struct Free {
  void operator()(git_blob*) const noexcept;
  void operator()(git_commit*) const noexcept;
  void operator()(git_config*) const noexcept;
  void operator()(git_diff*) const noexcept;
  void operator()(git_index*) const noexcept;
  void operator()(git_index_conflict_iterator*) const noexcept;
  void operator()(git_odb*) const noexcept;
  void operator()(git_packbuilder*) const noexcept;
  void operator()(git_reference*) const noexcept;
  void operator()(git_reference_iterator*) const noexcept;
  void operator()(git_remote*) const noexcept;
  void operator()(git_repository*) const noexcept;
  void operator()(git_revwalk*) const noexcept;
  void operator()(git_signature*) const noexcept;
  void operator()(git_transaction*) const noexcept;
  void operator()(git_tree*) const noexcept;
  void operator()(git_tree_entry*) const noexcept;
};

using Blob = std::unique_ptr<git_blob, Free>;
using Commit = std::unique_ptr<git_commit, Free>;
using Config = std::unique_ptr<git_config, Free>;
using Diff = std::unique_ptr<git_diff, Free>;
using Index = std::unique_ptr<git_index, Free>;
using ConflictIterator = std::unique_ptr<git_index_conflict_iterator, Free>;
using Odb = std::unique_ptr<git_odb, Free>;
using PackBuilder = std::unique_ptr<git_packbuilder, Free>;
using Reference = std::unique_ptr<git_reference, Free>;
using ReferenceIterator = std::unique_ptr<git_reference_iterator, Free>;
using Remote = std::unique_ptr<git_remote, Free>;
using Repository = std::unique_ptr<git_repository, Free>;
using Revwalk = std::unique_ptr<git_revwalk, Free>;
using Signature = std::unique_ptr<git_signature, Free>;
using Transaction = std::unique_ptr<git_transaction, Free>;
using Tree = std::unique_ptr<git_tree, Free>;
using TreeEntry = std::unique_ptr<git_tree_entry, Free>;

// Adapts a handle to a C out parameter: git_repository_open(into(repo), path).
template <class Handle>
class Into {
 public:
  explicit Into(Handle& handle) : handle_(handle) {}
  ~Into() { handle_.reset(raw_); }
  Into(const Into&) = delete;
  Into& operator=(const Into&) = delete;
  // NOLINTNEXTLINE(google-explicit-constructor): stands where libgit2 takes a pointer to a pointer
  operator typename Handle::pointer *() { return &raw_; }

 private:
  Handle& handle_;
  typename Handle::pointer raw_ = nullptr;
};
template <class Handle>
Into<Handle> into(Handle& handle) {
  return Into<Handle>(handle);
}

// An error from a negative libgit2 code and the library's last message. `what` says what was being
// done and, where it helps, what to do; `where` names the repository, ref or path.
base::Error failure(int code, std::string_view what, std::string_view where);
Status check(int code, std::string_view what, std::string_view where);

// Starts libgit2 on the first call; every entry point passes through it by opening a repository.
void start_library();

// The repository at exactly this path, no search upwards. A handle belongs to one thread.
Result<Repository> open_repository(const std::filesystem::path& path);

Status parse_id(const CommitId& id, git_oid* out);
CommitId id_of(const git_oid& oid);

Result<Commit> load_commit(git_repository* repo, const CommitId& id);
Result<Tree> load_tree(git_repository* repo, const CommitId& id);

// Whether `id` is `tip` or one of its ancestors; false if the repository lacks `id`.
Result<bool> contains(git_repository* repo, const git_oid& tip, const git_oid& id);

}  // namespace store::git
