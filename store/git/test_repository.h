// Real repositories in a temporary folder for the tests of this folder, independent of any git
// configuration of the user's.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"
#include "store/git/repository.h"

namespace store::git::testing {

// A folder that is removed at the end.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Runs a git command line in `folder`; its output. Fails the test if git fails.
std::string git(const std::filesystem::path& folder, const std::string& arguments);

void write(const std::filesystem::path& file, const std::string& content);
std::string read(const std::filesystem::path& file);
// Path below `folder` to content, of every file and link, .git included.
std::map<std::string, std::string> snapshot(const std::filesystem::path& folder);

// Writes the files, commits them on the current branch of a checkout; the commit.
CommitId commit(const std::filesystem::path& checkout,
                const std::map<std::string, std::string>& files, const std::string& message);
CommitId tip(const std::filesystem::path& repository, const std::string& ref);

// A checkout on main with a few files and one commit:
//   a.txt "one\ntwo\nthree\n", src/deep.h, src/x y ü.txt, run.sh (executable), link -> a.txt
std::filesystem::path make_target(const TempFolder& temp);

CommitText text(const std::string& subject);

// The value, or a failed test that shows the error.
template <class T>
T must(base::Result<T> result);
void must(base::Status status);
void fail_test(const base::Error& error);

template <class T>
T must(base::Result<T> result) {
  if (!result) fail_test(result.error());
  return std::move(*result);
}

}  // namespace store::git::testing
