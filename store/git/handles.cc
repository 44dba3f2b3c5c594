#include "store/git/handles.h"

#include <git2.h>

#include <cstring>

namespace store::git {

void Free::operator()(git_blob* p) const noexcept { git_blob_free(p); }
void Free::operator()(git_commit* p) const noexcept { git_commit_free(p); }
void Free::operator()(git_config* p) const noexcept { git_config_free(p); }
void Free::operator()(git_diff* p) const noexcept { git_diff_free(p); }
void Free::operator()(git_index* p) const noexcept { git_index_free(p); }
void Free::operator()(git_index_conflict_iterator* p) const noexcept {
  git_index_conflict_iterator_free(p);
}
void Free::operator()(git_odb* p) const noexcept { git_odb_free(p); }
void Free::operator()(git_packbuilder* p) const noexcept { git_packbuilder_free(p); }
void Free::operator()(git_reference* p) const noexcept { git_reference_free(p); }
void Free::operator()(git_reference_iterator* p) const noexcept { git_reference_iterator_free(p); }
void Free::operator()(git_remote* p) const noexcept { git_remote_free(p); }
void Free::operator()(git_repository* p) const noexcept { git_repository_free(p); }
void Free::operator()(git_revwalk* p) const noexcept { git_revwalk_free(p); }
void Free::operator()(git_signature* p) const noexcept { git_signature_free(p); }
void Free::operator()(git_transaction* p) const noexcept { git_transaction_free(p); }
void Free::operator()(git_tree* p) const noexcept { git_tree_free(p); }
void Free::operator()(git_tree_entry* p) const noexcept { git_tree_entry_free(p); }

namespace {

struct Library {
  Library() {
    git_libgit2_init();
    // A night branch that the store has recorded must survive a power cut as the record does.
    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
  }
  ~Library() { git_libgit2_shutdown(); }
};

base::ErrorCode code_of(int code, int klass) {
  using enum base::ErrorCode;
  switch (code) {
    case GIT_ENOTFOUND:
      return not_found;
    case GIT_EEXISTS:
    case GIT_EMODIFIED:
    case GIT_ECONFLICT:
      return conflict;
    case GIT_ELOCKED:
      return unavailable;
    case GIT_EINVALIDSPEC:
    case GIT_EINVALID:
      return bad_input;
    case GIT_EOWNER:
      return refused;
    default:
      break;
  }
  return klass == GIT_ERROR_ZLIB || klass == GIT_ERROR_ODB || klass == GIT_ERROR_SHA1 ? corrupt
                                                                                      : io;
}

}  // namespace

void start_library() { static const Library library; }

base::Error failure(int code, std::string_view what, std::string_view where) {
  const git_error* last = git_error_last();
  std::string message(what);
  message += ": ";
  message += last && last->message ? last->message : "libgit2 code " + std::to_string(code);
  return {code_of(code, last ? last->klass : 0), std::move(message), std::string(where)};
}

Status check(int code, std::string_view what, std::string_view where) {
  if (code >= 0) return {};
  return tl::unexpected<base::Error>(failure(code, what, where));
}

Result<Repository> open_repository(const std::filesystem::path& path) {
  start_library();
  Repository repo;
  const int code =
      git_repository_open_ext(into(repo), path.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
  // libgit2 1.5 reports a foreign owner as the setting it looked for in vain.
  const git_error* last = git_error_last();
  const bool foreign = code == GIT_EOWNER || (code == GIT_ENOTFOUND && last && last->message &&
                                              std::strstr(last->message, "safe.directory"));
  if (code == GIT_ENOTFOUND && !foreign) {
    return base::fail(base::ErrorCode::not_found,
                      "expected a git repository (a checkout's top folder, or a bare repository), "
                      "found none; check the path, or run git init and commit there",
                      path.string());
  }
  if (foreign) {
    return base::fail(base::ErrorCode::refused,
                      "the repository belongs to another user, and git trusts only its owner's; "
                      "run the daemon as the owner, or allow it with: git config --global --add "
                      "safe.directory " +
                          path.string(),
                      path.string());
  }
  NS_TRY(check(code, "cannot open the git repository", path.string()));
  git_repository_set_ident(repo.get(), "Nightshift", "nightshift@localhost");
  return repo;
}

Status parse_id(const CommitId& id, git_oid* out) {
  if (id.hex.size() == GIT_OID_HEXSZ && git_oid_fromstr(out, id.hex.c_str()) == 0) return {};
  return base::fail(base::ErrorCode::bad_input,
                    "expected a commit id of 40 hexadecimal digits, found '" + id.hex + "'");
}

CommitId id_of(const git_oid& oid) {
  char hex[GIT_OID_HEXSZ + 1];
  return {git_oid_tostr(hex, sizeof hex, &oid)};
}

Result<Commit> load_commit(git_repository* repo, const CommitId& id) {
  git_oid oid;
  NS_TRY(parse_id(id, &oid));
  Commit commit;
  NS_TRY(check(git_commit_lookup(into(commit), repo, &oid),
               "no such commit here (fetch first, or check the id)", id.hex));
  return commit;
}

Result<Tree> load_tree(git_repository* repo, const CommitId& id) {
  NS_ASSIGN(commit, load_commit(repo, id));
  Tree tree;
  NS_TRY(check(git_commit_tree(into(tree), commit.get()), "cannot read the commit's tree", id.hex));
  return tree;
}

Result<bool> contains(git_repository* repo, const git_oid& tip, const git_oid& id) {
  if (git_oid_equal(&tip, &id)) return true;
  Odb odb;
  NS_TRY(check(git_repository_odb(into(odb), repo), "cannot open the object database",
               git_repository_path(repo)));
  if (!git_odb_exists(odb.get(), &id)) return false;
  const int found = git_graph_descendant_of(repo, &tip, &id);
  NS_TRY(check(found, "cannot walk the history", id_of(tip).hex));
  return found == 1;
}

}  // namespace store::git
