#include "store/git/remote.h"

#include <git2.h>

#include <cstdlib>
#include <string_view>

#include "store/git/refs.h"

namespace store::git {
namespace {

constexpr const char* kFetchAll = "+refs/heads/*:refs/remotes/target/*";

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What was offered in one connection; what was refused once is not offered again.
struct Offered {
  bool key = false, agent = false, token = false;
};

int ssh_credential(git_credential** out, const std::string& user, Offered& offered) {
  const std::string key = from_environment("NIGHTSHIFT_GIT_SSH_KEY");
  if (!key.empty() && !offered.key) {
    offered.key = true;
    const std::string passphrase = from_environment("NIGHTSHIFT_GIT_SSH_PASSPHRASE");
    return git_credential_ssh_key_new(out, user.c_str(), nullptr, key.c_str(), passphrase.c_str());
  }
  if (!from_environment("SSH_AUTH_SOCK").empty() && !offered.agent) {
    offered.agent = true;
    return git_credential_ssh_key_from_agent(out, user.c_str());
  }
  git_error_set_str(GIT_ERROR_SSH,
                    "the server wants an ssh key and took none of ours; load one with ssh-add "
                    "(SSH_AUTH_SOCK), or name its file in NIGHTSHIFT_GIT_SSH_KEY");
  return GIT_EAUTH;
}

// A token goes over an encrypted connection only.
int token_credential(git_credential** out, std::string_view url, const std::string& user,
                     Offered& offered) {
  const std::string token = from_environment("NIGHTSHIFT_GIT_TOKEN");
  if (!token.empty() && !offered.token && url.starts_with("https://")) {
    offered.token = true;
    return git_credential_userpass_plaintext_new(out, user.c_str(), token.c_str());
  }
  git_error_set_str(GIT_ERROR_HTTP,
                    offered.token
                        ? "the server refused NIGHTSHIFT_GIT_USER and NIGHTSHIFT_GIT_TOKEN"
                        : "the server wants a user and a token; set NIGHTSHIFT_GIT_USER and "
                          "NIGHTSHIFT_GIT_TOKEN (they are sent over https only)");
  return GIT_EAUTH;
}

int credential(git_credential** out, const char* url, const char* user_in_url, unsigned allowed,
               void* payload) noexcept {
  try {
    auto& offered = *static_cast<Offered*>(payload);
    std::string user = user_in_url ? user_in_url : from_environment("NIGHTSHIFT_GIT_USER");
    if (user.empty()) user = "git";
    if (allowed & GIT_CREDENTIAL_SSH_KEY) return ssh_credential(out, user, offered);
    if (allowed & GIT_CREDENTIAL_USERNAME) return git_credential_username_new(out, user.c_str());
    if (allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT) {
      return token_credential(out, url ? url : "", user, offered);
    }
    git_error_set_str(GIT_ERROR_NET, "the server wants a kind of credential that is not known");
    return GIT_EAUTH;
  } catch (...) {  // out of memory; nothing may leave a C callback
    return GIT_EUSER;
  }
}

// The server's word on the ref that was pushed; null when it was moved.
int note_refusal(const char*, const char* status, void*) noexcept {
  if (status == nullptr) return 0;
  git_error_set_str(GIT_ERROR_NET, status);
  return GIT_EUSER;
}

// One connection with what it needs.
struct Connection {
  Remote remote;
  git_remote_callbacks callbacks;
  Offered offered;

  Status open(git_repository* mirror, const std::string& url, git_direction direction) {
    git_remote_init_callbacks(&callbacks, GIT_REMOTE_CALLBACKS_VERSION);
    callbacks.credentials = credential;
    callbacks.push_update_reference = note_refusal;
    callbacks.payload = &offered;
    git_remote_create_options options;
    git_remote_create_options_init(&options, GIT_REMOTE_CREATE_OPTIONS_VERSION);
    options.repository = mirror;
    // The user's url.*.insteadOf must not send commits elsewhere than the campaign says.
    options.flags = GIT_REMOTE_CREATE_SKIP_INSTEADOF;
    NS_TRY(check(git_remote_create_with_opts(into(remote), url.c_str(), &options),
                 "cannot use the remote", url));
    git_remote_connect_options connect;
    git_remote_connect_options_init(&connect, GIT_REMOTE_CONNECT_OPTIONS_VERSION);
    connect.callbacks = callbacks;
    // A redirect to another host would take the token there.
    connect.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
    return check(git_remote_connect_ext(remote.get(), direction, &connect),
                 "cannot reach the target", url);
  }

  Result<std::map<std::string, CommitId>> heads(const std::string& url) const {
    const git_remote_head** list = nullptr;
    std::size_t count = 0;
    NS_TRY(check(git_remote_ls(&list, &count, remote.get()), "cannot list the branches", url));
    std::map<std::string, CommitId> out;
    const std::string_view prefix = kHeads;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view name = list[i]->name;
      if (name.starts_with(prefix))
        out[std::string(name.substr(prefix.size()))] = id_of(list[i]->oid);
    }
    return out;
  }
};

base::Error moved(const std::string& ref, const CommitId& expected, const std::string& found) {
  return {base::ErrorCode::conflict,
          "expected " + expected.hex + ", found " + found +
              "; it moved meanwhile, merge onto that commit and land again",
          ref};
}

Result<std::string> tip_text(git_repository* mirror, const std::string& url,
                             const std::string& name) {
  Connection connection;
  NS_TRY(connection.open(mirror, url, GIT_DIRECTION_FETCH));
  NS_ASSIGN(heads, connection.heads(url));
  const auto found = heads.find(name);
  return found == heads.end() ? std::string("no such branch") : found->second.hex;
}

}  // namespace

bool is_remote(const std::string& target) {
  if (target.starts_with("file://")) return false;
  if (target.find("://") != std::string::npos) return true;
  const std::size_t at = target.find('@'), colon = target.find(':');
  return at < colon && colon < target.find('/');
}

Status check_remote(const std::string& url) {
  const std::size_t scheme = url.find("://");
  bool spoken = scheme == std::string::npos;  // user@host:path, which is ssh
  for (const char* known : {"https://", "ssh://", "http://", "git://"}) {
    spoken |= url.starts_with(known);
  }
  if (!spoken) {
    return base::fail(base::ErrorCode::bad_input,
                      "expected the target as a path, file://, https://, ssh://, user@host:path, "
                      "or, unencrypted, http:// or git://",
                      "'" + url.substr(0, scheme) + "://...'");
  }
  if (scheme == std::string::npos) return {};
  const std::string authority = url.substr(scheme + 3, url.find('/', scheme + 3) - scheme - 3);
  const std::size_t at = authority.rfind('@');
  if (at == std::string::npos || authority.find(':') > at) return {};
  return base::fail(base::ErrorCode::bad_input,
                    "the URL holds a password, which would be stored and shown; leave it out and "
                    "set NIGHTSHIFT_GIT_USER and NIGHTSHIFT_GIT_TOKEN",
                    url.substr(0, scheme + 3) + "...@" + authority.substr(at + 1));
}

Result<std::map<std::string, CommitId>> fetch_heads(git_repository* mirror,
                                                    const std::string& url) {
  Connection connection;
  NS_TRY(connection.open(mirror, url, GIT_DIRECTION_FETCH));
  NS_ASSIGN(heads, connection.heads(url));
  Odb odb;
  NS_TRY(check(git_repository_odb(into(odb), mirror), "cannot open the object database", url));
  bool lacking = false;
  for (const auto& [name, tip] : heads) {
    git_oid oid;
    NS_TRY(parse_id(tip, &oid));
    lacking |= !git_odb_exists(odb.get(), &oid);
  }
  if (!lacking) return heads;
  git_fetch_options options;
  git_fetch_options_init(&options, GIT_FETCH_OPTIONS_VERSION);
  options.callbacks = connection.callbacks;
  options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
  options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
  std::string spec = kFetchAll;
  char* specs[] = {spec.data()};
  const git_strarray list{specs, 1};
  NS_TRY(check(git_remote_download(connection.remote.get(), &list, &options),
               "cannot fetch from the target", url));
  return heads;
}

Status push_commit(git_repository* mirror, const std::string& url, const std::string& ref,
                   const CommitId& expected, const CommitId& commit) {
  const std::string name = ref.substr(std::string_view(kHeads).size());
  Connection connection;
  NS_TRY(connection.open(mirror, url, GIT_DIRECTION_PUSH));
  NS_ASSIGN(heads, connection.heads(url));
  const auto found = heads.find(name);
  if (found == heads.end()) return tl::unexpected(moved(ref, expected, "no such branch"));
  if (found->second == commit) return {};
  if (found->second != expected) return tl::unexpected(moved(ref, expected, found->second.hex));
  git_push_options options;
  git_push_options_init(&options, GIT_PUSH_OPTIONS_VERSION);
  options.callbacks = connection.callbacks;
  options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
  const std::string source = "refs/nightshift/push/" + commit.hex;  // libgit2 pushes refs only
  NS_TRY(set_ref(mirror, source, commit));
  std::string spec = source + ":" + ref;
  char* specs[] = {spec.data()};
  const git_strarray list{specs, 1};
  const int code = git_remote_upload(connection.remote.get(), &list, &options);
  const base::Error refused = failure(code, "the target refused the push", url + " " + ref);
  NS_TRY(delete_ref(mirror, source));
  if (code >= 0) return {};
  // Whether it moved meanwhile, or does not let us push: only a second look can tell.
  NS_ASSIGN(now, tip_text(mirror, url, name));
  if (now == commit.hex) return {};
  if (now != expected.hex) return tl::unexpected(moved(ref, expected, now));
  return tl::unexpected(refused);
}

}  // namespace store::git
