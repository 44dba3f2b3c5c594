#include "store/git/refs.h"

#include <git2.h>

namespace store::git {

Result<std::optional<CommitId>> ref_tip(git_repository* repo, const std::string& name) {
  Reference ref;
  const int code = git_reference_lookup(into(ref), repo, name.c_str());
  if (code == GIT_ENOTFOUND) return std::nullopt;
  NS_TRY(check(code, "cannot read the ref", name));
  if (git_reference_type(ref.get()) == GIT_REFERENCE_SYMBOLIC) {
    return base::fail(base::ErrorCode::bad_input,
                      std::string("expected a branch of its own, found a symbolic ref to ") +
                          git_reference_symbolic_target(ref.get()) + "; name that branch instead",
                      name);
  }
  return id_of(*git_reference_target(ref.get()));
}

Result<std::map<std::string, CommitId>> refs_below(git_repository* repo,
                                                   const std::string& prefix) {
  ReferenceIterator refs;
  NS_TRY(check(git_reference_iterator_glob_new(into(refs), repo, (prefix + "*").c_str()),
               "cannot list refs", prefix));
  std::map<std::string, CommitId> out;
  for (;;) {
    Reference ref;
    const int code = git_reference_next(into(ref), refs.get());
    if (code == GIT_ITEROVER) return out;
    NS_TRY(check(code, "cannot list refs", prefix));
    Reference direct;
    // A symbolic ref to a branch that does not exist yet is no branch.
    if (git_reference_resolve(into(direct), ref.get()) < 0) continue;
    out.emplace(std::string(git_reference_name(ref.get())).substr(prefix.size()),
                id_of(*git_reference_target(direct.get())));
  }
}

Status set_ref(git_repository* repo, const std::string& name, const CommitId& id) {
  git_oid oid;
  NS_TRY(parse_id(id, &oid));
  Reference ref;
  return check(git_reference_create(into(ref), repo, name.c_str(), &oid, 1, "nightshift"),
               "cannot set the ref", name);
}

Status delete_ref(git_repository* repo, const std::string& name) {
  return check(git_reference_remove(repo, name.c_str()), "cannot delete the ref", name);
}

Status swap_ref(git_repository* repo, const std::string& name,
                const std::optional<CommitId>& expected, const CommitId& id,
                const std::string& reason) {
  git_oid oid;
  NS_TRY(parse_id(id, &oid));
  Transaction locked;
  NS_TRY(check(git_transaction_new(into(locked), repo), "cannot start a ref transaction", name));
  NS_TRY(check(git_transaction_lock_ref(locked.get(), name.c_str()),
               "cannot lock the ref; try again, and if no git command is running there, remove "
               "the left-over " +
                   name + ".lock",
               git_repository_path(repo)));
  NS_ASSIGN(found, ref_tip(repo, name));
  if (found != expected) {
    return base::fail(base::ErrorCode::conflict,
                      "expected " + (expected ? expected->hex : "no such ref") + ", found " +
                          (found ? found->hex : "none") + "; it moved meanwhile, start from there",
                      name);
  }
  NS_TRY(
      check(git_transaction_set_target(locked.get(), name.c_str(), &oid, nullptr, reason.c_str()),
            "cannot set the ref", name));
  return check(git_transaction_commit(locked.get()), "cannot write the ref", name);
}

}  // namespace store::git
