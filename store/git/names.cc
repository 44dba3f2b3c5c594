#include "store/git/names.h"

#include <git2.h>

#include <algorithm>

#include "store/git/handles.h"

namespace store::git {
namespace {

base::Status refuse(std::string expected, std::string_view found) {
  return base::fail(base::ErrorCode::bad_input, std::move(expected),
                    "'" + std::string(found) + "'");
}

// Also the spellings that other file systems read as ".git": any case, trailing dots and spaces,
// the short name git~1.
bool names_git_folder(std::string_view part) {
  while (!part.empty() && (part.back() == '.' || part.back() == ' ')) part.remove_suffix(1);
  std::string lower(part);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(c < 128 ? std::tolower(c) : c); });
  return lower == ".git" || lower == "git~1";
}

base::Status check_part(std::string_view part, std::string_view path) {
  if (part.empty()) return refuse("a path must be relative, without empty parts", path);
  if (part == "." || part == "..") return refuse("a path must not contain '.' or '..'", path);
  if (names_git_folder(part)) return refuse("a path must not lead into .git", path);
  return {};
}

}  // namespace

base::Status check_branch(std::string_view branch) {
  start_library();
  int valid = 0;
  if (branch.find('\0') != std::string_view::npos ||
      git_branch_name_is_valid(&valid, std::string(branch).c_str()) < 0 || !valid) {
    return refuse("git does not accept this branch name (see git check-ref-format)", branch);
  }
  return {};
}

base::Status check_night_branch(std::string_view branch) {
  if (!branch.starts_with("night/")) {
    return refuse("a branch of the daemon's must begin with night/", branch);
  }
  return check_branch(branch);
}

base::Status check_path(std::string_view path) {
  for (const unsigned char c : path) {
    if (c < 0x20 || c == 0x7f) return refuse("a path must not contain control characters", path);
  }
  for (std::string_view rest = path;;) {
    const auto slash = rest.find('/');
    NS_TRY(check_part(rest.substr(0, slash), path));
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
}

base::Status check_slot(std::string_view slot) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto allowed = [&](char c) { return lower(c) || (c >= '0' && c <= '9') || c == '-'; };
  if (slot.empty() || slot.size() > 64 || !lower(slot[0]) ||
      !std::all_of(slot.begin(), slot.end(), allowed)) {
    return refuse("a workspace slot must be 1 to 64 of a-z, 0-9 and '-', beginning with a letter",
                  slot);
  }
  return {};
}

}  // namespace store::git
