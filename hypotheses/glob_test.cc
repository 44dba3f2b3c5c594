#include "hypotheses/glob.h"

#include <catch2/catch.hpp>
#include <string>

#include "hypotheses/manifest.h"

namespace hypotheses {

TEST_CASE("globs match whole paths") {
  struct Row {
    const char *pattern, *path;
    bool matches;
  };
  const Row rows[] = {
      {"a.h", "a.h", true},
      {"a.h", "xa.h", false},
      {"a.h", "a.hh", false},
      {"*.h", "a.h", true},
      {"*.h", ".h", true},
      {"*.h", "x/a.h", false},
      {"x/*", "x/a.h", true},
      {"x/*", "x/y/a.h", false},
      {"a?c", "abc", true},
      {"a?c", "a/c", false},
      {"a?c", "ac", false},
      {"**", "a/b/c", true},
      {"x/**", "x/y/z", true},
      {"x/**", "x", false},
      {"x/**", "xy/z", false},
      {"**/CMakeLists.txt", "CMakeLists.txt", true},
      {"**/CMakeLists.txt", "a/b/CMakeLists.txt", true},
      {"**/CMakeLists.txt", "a/notCMakeLists.txt", false},
      {"a/**/b", "a/b", true},
      {"a/**/b", "a/x/y/b", true},
      {"a/**/b", "a/xb", false},
      {"a**z", "a/b/z", true},
      {"kernels/*/{reference,check,bench}*", "kernels/kda/reference.cc", true},
      {"kernels/*/{reference,check,bench}*", "kernels/kda/bench", true},
      {"kernels/*/{reference,check,bench}*", "kernels/kda/v0.cc", false},
      {"kernels/*/{reference,check,bench}*", "kernels/kda/x/check.cc", false},
      {"{a,b/**}/x", "b/c/d/x", true},
      {"{a,b/**}/x", "a/x", true},
      {"{a,{b,c}d}", "cd", true},
      {"{a,{b,c}d}", "c", false},
      {"x{,.bak}", "x", true},
      {"x{,.bak}", "x.bak", true},
      {"{**/x,y}", "x", true},
      {"{a}", "a", true},
      {"kda_decode.*", "kda_decode.v_tile", true},
      {"a,b", "a,b", true},
      {"*", "", true},
  };
  for (const Row& row : rows) {
    INFO(row.pattern << " on " << row.path);
    CHECK_FALSE(glob_problem(row.pattern));
    CHECK(glob_matches(row.pattern, row.path) == row.matches);
  }
}

TEST_CASE("a pattern that is not valid says why and matches nothing") {
  for (const char* pattern : {"", "/a", "!a", "[ab]", "a\\*", "{a", "a}", "{a,{b}", "a/../b", "./a",
                              "a/", "..", "{{{{{a}}}}}"}) {
    INFO(pattern);
    CHECK(glob_problem(pattern));
    CHECK_FALSE(glob_matches(pattern, pattern));
  }
  CHECK(glob_problem(std::string(1000, 'a')));
}

TEST_CASE("a hostile pattern costs no more than its length times the path's") {
  std::string stars, braces, folders;
  for (int i = 0; i < 100; ++i) stars += "a*";
  for (int i = 0; i < 60; ++i) braces += "{a,a*}";
  for (int i = 0; i < 100; ++i) folders += "**/";
  const std::string path(4000, 'a');
  // Backtracking would take longer than the universe has left.
  CHECK_FALSE(glob_matches(stars + "b", path));
  CHECK_FALSE(glob_matches(braces + "b", path));
  CHECK_FALSE(glob_matches(folders + "b", path + "/" + path));
  CHECK(glob_matches(stars, path));
}

}  // namespace hypotheses
