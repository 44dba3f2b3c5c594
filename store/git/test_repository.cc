#include "store/git/test_repository.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

namespace store::git::testing {
namespace fs = std::filesystem;
namespace {

// libgit2 looks for the user's configuration where HOME points when it starts.
const bool kNoUserConfig = [] {
  setenv("HOME", "/nonexistent", 1);
  unsetenv("XDG_CONFIG_HOME");
  return true;
}();

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "nightshift-git-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = name;
}
TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string git(const fs::path& folder, const std::string& arguments) {
  const std::string command =
      "cd " + quoted(folder.string()) +
      " && env -u GIT_DIR HOME=/nonexistent GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1"
      " GIT_AUTHOR_NAME=T GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=T"
      " GIT_COMMITTER_EMAIL=t@example.org git -c init.defaultBranch=main -c gc.auto=0 " +
      arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  const int status = pclose(pipe);
  INFO(command << "\n" << out);
  REQUIRE(status == 0);
  return out;
}

void write(const fs::path& file, const std::string& content) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  REQUIRE(in.good());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::map<std::string, std::string> snapshot(const fs::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_symlink()) {
      out[name] = "-> " + fs::read_symlink(entry.path()).string();
    } else if (entry.is_regular_file()) {
      out[name] = read(entry.path());
    }
  }
  return out;
}

CommitId tip(const fs::path& repository, const std::string& ref) {
  std::string hex = git(repository, "rev-parse " + quoted(ref));
  hex.pop_back();
  return {hex};
}

CommitId commit(const fs::path& checkout, const std::map<std::string, std::string>& files,
                const std::string& message) {
  for (const auto& [name, content] : files) write(checkout / name, content);
  git(checkout, "add -A");
  git(checkout, "commit -q --allow-empty -m " + quoted(message));
  return tip(checkout, "HEAD");
}

fs::path make_target(const TempFolder& temp) {
  fs::path checkout = temp.path() / "target";
  fs::create_directories(checkout);
  git(checkout, "init -q");
  write(checkout / "run.sh", "#!/bin/sh\n");
  fs::permissions(checkout / "run.sh", fs::perms::owner_exec, fs::perm_options::add);
  fs::create_symlink("a.txt", checkout / "link");
  commit(checkout,
         {{"a.txt", "one\ntwo\nthree\n"}, {"src/deep.h", "deep\n"}, {"src/x y ü.txt", "odd\n"}},
         "first");
  return checkout;
}

CommitText text(const std::string& subject) {
  return {subject, "", {}, "Nightshift", "nightshift@example.org", {1'700'000'000'000}};
}

void must(base::Status status) {
  if (!status) fail_test(status.error());
}

void fail_test(const base::Error& error) { FAIL(error.text()); }

}  // namespace store::git::testing
