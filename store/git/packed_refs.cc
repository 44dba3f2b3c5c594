// Refs by the thousand: one file for all of them. Set one by one they would be a file each, and
// each would be checked against all others.
#include <fcntl.h>
#include <git2.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "base/fd.h"
#include "base/files.h"
#include "store/git/checkout.h"
#include "store/git/refs.h"

namespace store::git {
namespace fs = std::filesystem;
namespace {

// git's own lock of the file: exists while somebody writes it.
class PackedRefsLock {
 public:
  static Result<PackedRefsLock> take(const fs::path& packed_refs) {
    fs::path file = packed_refs.string() + ".lock";
    const base::Fd made(::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
    if (made.get() >= 0) return PackedRefsLock(std::move(file));
    return base::fail(base::ErrorCode::conflict,
                      "cannot lock the mirror's refs: " + std::generic_category().message(errno) +
                          "; if no git command is running there, remove the file",
                      file.string());
  }
  PackedRefsLock(PackedRefsLock&& other) noexcept : file_(std::move(other.file_)) {
    other.file_.clear();
  }
  PackedRefsLock& operator=(PackedRefsLock&&) = delete;
  ~PackedRefsLock() {
    std::error_code ignored;
    if (!file_.empty()) fs::remove(file_, ignored);
  }

 private:
  explicit PackedRefsLock(fs::path file) : file_(std::move(file)) {}
  fs::path file_;
};

// Name to line, and to the line of what a tag points at, of every ref that is not below the prefix.
std::map<std::string, std::string> other_lines(const fs::path& packed_refs,
                                               const std::string& prefix) {
  std::map<std::string, std::string> lines;
  std::ifstream in(packed_refs);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    if (line.starts_with('^')) {
      if (const auto tag = lines.find(last); tag != lines.end()) tag->second += line + "\n";
      continue;
    }
    if (line.size() <= GIT_OID_HEXSZ + 1) continue;
    last = line.substr(GIT_OID_HEXSZ + 1);
    if (!last.starts_with(prefix)) lines[last] = line + "\n";
  }
  return lines;
}

}  // namespace

Status replace_refs_below(git_repository* repo, const std::string& prefix,
                          const std::map<std::string, CommitId>& refs) {
  const fs::path folder = git_repository_commondir(repo);
  const fs::path packed_refs = folder / "packed-refs";
  NS_ASSIGN(lock, PackedRefsLock::take(packed_refs));
  auto lines = other_lines(packed_refs, prefix);
  for (const auto& [name, tip] : refs) {
    const std::string full = prefix + name;
    lines[full] = tip.hex + " " + full + "\n";
  }
  std::string text = "# pack-refs with: peeled fully-peeled sorted \n";
  for (const auto& [name, line] : lines) text += line;
  NS_TRY(base::write_file_atomically(packed_refs, text));
  // A ref with a file of its own, from before, would hide the new one.
  return remove_folder(folder / prefix);
}

}  // namespace store::git
