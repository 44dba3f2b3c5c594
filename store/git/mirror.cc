// Mirror: creating, fetching, and finding commits by name.
#include <git2.h>

#include <algorithm>
#include <system_error>

#include "store/git/handles.h"
#include "store/git/names.h"
#include "store/git/refs.h"
#include "store/git/remote.h"
#include "store/git/repository.h"
#include "store/git/target.h"
#include "store/git/transfer.h"

namespace store::git {
namespace fs = std::filesystem;
namespace {

// Written last: a mirror that has it was set up completely.
constexpr const char* kMirrorMark = "nightshift.mirror";

// What decides the bytes of a checkout and the text of a diff must not depend on the settings of
// the user who happens to run the daemon; the mirror's own settings win over those.
Status configure(git_repository* repo) {
  Config config;
  const std::string where = git_repository_path(repo);
  NS_TRY(check(git_repository_config(into(config), repo), "cannot open the configuration", where));
  int done = 0;
  if (git_config_get_bool(&done, config.get(), kMirrorMark) == 0 && done) return {};
  for (const auto& [key, value] : {std::pair{"core.autocrlf", "false"},
                                   {"core.eol", "lf"},
                                   {"core.filemode", "true"},
                                   {"core.symlinks", "true"},
                                   {"core.ignorecase", "false"},
                                   {"core.precomposeunicode", "false"},
                                   {"core.logallrefupdates", "false"},
                                   {"core.excludesfile", "/dev/null"},
                                   {"core.attributesfile", "/dev/null"},
                                   {"diff.noprefix", "false"},
                                   {"diff.mnemonicprefix", "false"},
                                   {"diff.context", "3"},
                                   {"gc.auto", "0"},
                                   {kMirrorMark, "true"}}) {
    NS_TRY(check(git_config_set_string(config.get(), key, value), "cannot write the configuration",
                 where));
  }
  return {};
}

bool left_over(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".lock") || name.starts_with("pack_git2_") ||
         name.starts_with("tmp_object_git2_");
}

// Locks and temporary packs of a process that was killed.
Status remove_left_overs(const fs::path& mirror) {
  std::error_code error;
  std::vector<fs::path> stale;
  for (fs::recursive_directory_iterator it(mirror, error), end; !error && it != end;
       it.increment(error)) {
    if (left_over(it->path()) && !it->is_directory(error)) stale.push_back(it->path());
  }
  for (const fs::path& path : stale) {
    if (!error) fs::remove(path, error);
  }
  if (!error) return {};
  return base::fail(base::ErrorCode::io, "cannot remove left-over locks: " + error.message(),
                    mirror.string());
}

Result<Repository> open_or_create(const fs::path& mirror) {
  start_library();
  std::error_code error;
  if (fs::exists(mirror, error)) NS_TRY(remove_left_overs(mirror));
  git_repository_init_options options;
  git_repository_init_options_init(&options, GIT_REPOSITORY_INIT_OPTIONS_VERSION);
  options.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH;
  options.initial_head = "main";
  Repository repo;
  // Also completes one whose creation was interrupted; an existing one is left as it is.
  NS_TRY(check(git_repository_init_ext(into(repo), mirror.c_str(), &options),
               "cannot create the mirror", mirror.string()));
  return open_repository(mirror);
}

// The branches of a repository on this machine, once their commits are in the mirror.
Result<std::map<std::string, CommitId>> copy_heads(git_repository* mirror, const fs::path& target,
                                                   const std::map<std::string, CommitId>& known) {
  NS_ASSIGN(source, open_target(target));
  NS_ASSIGN(heads, refs_below(source.get(), kHeads));
  NS_ASSIGN(own, refs_below(mirror, kHeads));
  std::vector<CommitId> want, have;
  for (const auto& [name, tip] : heads) want.push_back(tip);
  for (const auto& [name, tip] : known) have.push_back(tip);
  for (const auto& [name, tip] : own) have.push_back(tip);
  NS_TRY(copy_commits(source.get(), mirror, want, have));
  return heads;
}

std::string list_of(const std::map<std::string, CommitId>& branches) {
  constexpr std::size_t kShown = 20;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, tip] : branches) {
    if (shown++ == kShown)
      return text + ", and " + std::to_string(branches.size() - kShown) + " more";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

Result<Mirror> Mirror::open(fs::path mirror_dir, const std::string& target) {
  fs::path target_path;
  const std::string url = is_remote(target) ? target : "";
  if (url.empty()) {
    NS_ASSIGN(path, target_path_of(target));
    NS_TRY(open_target(path));
    target_path = std::move(path);
  } else {
    NS_TRY(check_remote(url));
  }
  NS_ASSIGN(repo, open_or_create(mirror_dir));
  NS_TRY(configure(repo.get()));
  Mirror mirror(std::move(mirror_dir), std::move(target_path), url);
  NS_ASSIGN(known, refs_below(repo.get(), kTargetHeads));
  if (known.empty()) NS_TRY(mirror.fetch());
  return mirror;
}

Status Mirror::fetch() {
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(known, refs_below(repo.get(), kTargetHeads));
  NS_ASSIGN(heads,
            url_.empty() ? copy_heads(repo.get(), target_, known) : fetch_heads(repo.get(), url_));
  // All of them at once is no push of anybody's: what we know is kept.
  if (heads.empty()) {
    return base::fail(base::ErrorCode::not_found,
                      "expected a repository with commits, found no branch; commit something first",
                      name());
  }
  if (heads == known) return {};
  return replace_refs_below(repo.get(), kTargetHeads, heads);
}

Result<CommitId> Mirror::base_commit(std::string_view branch) const {
  NS_TRY(check_branch(branch));
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(tip, ref_tip(repo.get(), kTargetHeads + std::string(branch)));
  if (tip) return *tip;
  NS_ASSIGN(branches, refs_below(repo.get(), kTargetHeads));
  return base::fail(base::ErrorCode::not_found,
                    "expected the base branch '" + std::string(branch) + "', found: " +
                        list_of(branches) + "; set `base` in the manifest to one of them",
                    name());
}

Result<CommitId> Mirror::landing_tip(std::string_view branch) const {
  NS_ASSIGN(base, base_commit(branch));
  if (!url_.empty()) return base;  // nothing waits there: nobody has it checked out
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(waiting, ref_tip(repo.get(), std::string(kTargetHeads) + kLandedBranch));
  if (!waiting) return base;
  NS_ASSIGN(ahead, contains(*waiting, base));
  return ahead ? *waiting : base;
}

Result<CommitId> Mirror::resolve(std::string_view name) const {
  NS_ASSIGN(repo, open_repository(path_));
  const std::string text(name);
  if (text.size() == GIT_OID_HEXSZ &&
      text.find_first_not_of("0123456789abcdef") == std::string::npos) {
    NS_TRY(load_commit(repo.get(), {text}));
    return CommitId{text};
  }
  NS_TRY(check_branch(name));
  for (const std::string& full : {text, kHeads + text, kTargetHeads + text}) {
    git_oid oid;
    const int code = git_reference_name_to_id(&oid, repo.get(), full.c_str());
    if (code == 0) return id_of(oid);
    if (code != GIT_ENOTFOUND && code != GIT_EINVALIDSPEC) {
      return tl::unexpected<base::Error>(failure(code, "cannot read the ref", full));
    }
  }
  return base::fail(base::ErrorCode::not_found,
                    "expected a commit id, a ref, a branch night/... or a branch of the target, "
                    "found none of this name",
                    "'" + text + "'");
}

Result<std::vector<TryBranch>> Mirror::try_branches() const {
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(branches, refs_below(repo.get(), std::string(kTargetHeads) + "try/"));
  std::vector<TryBranch> out;
  for (const auto& [name, tip] : branches) {
    NS_ASSIGN(commit, load_commit(repo.get(), tip));
    const std::string message = git_commit_message(commit.get());
    NS_ASSIGN(trailers, trailers_of(message));
    out.push_back({"try/" + name, tip, message, std::move(trailers)});
  }
  return out;
}

Result<bool> Mirror::contains(const CommitId& tip, const CommitId& commit) const {
  NS_ASSIGN(repo, open_repository(path_));
  git_oid tip_oid, oid;
  NS_TRY(parse_id(tip, &tip_oid));
  NS_TRY(parse_id(commit, &oid));
  return git::contains(repo.get(), tip_oid, oid);
}

}  // namespace store::git
