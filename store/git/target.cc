#include "store/git/target.h"

#include <git2.h>

#include <fstream>
#include <system_error>
#include <vector>

namespace store::git {
namespace fs = std::filesystem;
namespace {

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// A worktree's private folder names the branch it is on; during a rebase or bisect HEAD is
// detached and the branch is named in that operation's own files.
bool uses(const fs::path& gitdir, const std::string& ref) {
  const std::string short_name = ref.substr(std::string("refs/heads/").size());
  return first_line(gitdir / "HEAD") == "ref: " + ref ||
         first_line(gitdir / "rebase-merge" / "head-name") == ref ||
         first_line(gitdir / "rebase-apply" / "head-name") == ref ||
         first_line(gitdir / "BISECT_START") == short_name;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                        hex_digit(text[i + 2]) >= 0;
    if (!escape) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
    i += 2;
  }
  return out;
}

}  // namespace

Result<fs::path> target_path_of(const std::string& path_or_url) {
  constexpr std::string_view kFile = "file://";
  std::string path = path_or_url;
  if (path.starts_with(kFile)) {
    path = percent_decoded(std::string_view(path).substr(kFile.size()));
    if (path.starts_with("localhost/")) path = path.substr(std::string("localhost").size());
  }
  if (path.empty()) {
    return base::fail(base::ErrorCode::bad_input,
                      "expected the target as a path or a URL, found none",
                      "'" + path_or_url + "'");
  }
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  if (error) return base::fail(base::ErrorCode::io, error.message(), path);
  return absolute.lexically_normal();
}

Result<Repository> open_target(const fs::path& path) {
  NS_ASSIGN(opened, open_repository(path));
  const fs::path common = git_repository_commondir(opened.get());
  NS_ASSIGN(target, open_repository(common));
  if (git_repository_is_shallow(target.get())) {
    return base::fail(base::ErrorCode::bad_input,
                      "expected a full clone, found a shallow one; run git fetch --unshallow there",
                      path.string());
  }
  return target;
}

std::optional<fs::path> checked_out_at(git_repository* target, const std::string& ref) {
  const fs::path common = git_repository_commondir(target);
  if (!git_repository_is_bare(target) && uses(common, ref)) {
    const char* tree = git_repository_workdir(target);
    return fs::path(tree ? tree : common.c_str());
  }
  std::error_code error;
  for (fs::directory_iterator it(common / "worktrees", error), end; !error && it != end;
       it.increment(error)) {
    if (!uses(it->path(), ref)) continue;
    return fs::path(first_line(it->path() / "gitdir")).parent_path();
  }
  return std::nullopt;
}

}  // namespace store::git
