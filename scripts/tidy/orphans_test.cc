#include <catch2/catch.hpp>

#include "scripts/tidy/rules.h"

namespace tidy {
namespace {

// How many orphans there are when `build` is the build file at `path`.
std::size_t orphans(const std::string& path, const std::string& build, const std::string& source) {
  return orphan_rule({{path, build}, {source, ""}}).size();
}

}  // namespace

TEST_CASE("a source that no build file names is an orphan") {
  CHECK(orphans("store/CMakeLists.txt", "f(store SOURCES x.cc y.cc)", "store/x.cc") == 0);
  CHECK(orphans("store/CMakeLists.txt", "f(store SOURCES x.cc y.cc)", "store/z.cc") == 1);
  CHECK(orphans("store/CMakeLists.txt", "f(store SOURCES xx.cc)", "store/x.cc") == 1);
  CHECK(orphans("store/CMakeLists.txt", "f(store SOURCES git/x.cc)", "store/git/x.cc") == 0);
  CHECK(orphans("store/CMakeLists.txt", "f(store SOURCES x.cc)", "store/git/x.cc") == 1);
  CHECK(orphans("store/CMakeLists.txt", "f(SOURCES x.cc)", "web/x.cc") == 1);
  CHECK(orphans("store/CMakeLists.txt", "f(SOURCES\n  # x.cc\n  y.cc)", "store/x.cc") == 1);
  CHECK(orphans("store/CMakeLists.txt", "f(SOURCES \"x.cc\")", "store/x.cc") == 0);
  CHECK(orphans("CMakeLists.txt", "f(store/x.cc)", "store/x.cc") == 0);
  CHECK(orphans("kernels/cmake/cuda.cmake", "f(a/x.cu)", "kernels/a/x.cu") == 0);
}

TEST_CASE("variables in a build file stand for a component's text") {
  CHECK(orphans("kernels/CMakeLists.txt", "f(${op}/v0.cc)", "kernels/a/v0.cc") == 0);
  CHECK(orphans("kernels/CMakeLists.txt", "f(${op}/v0.cc)", "kernels/a/v1.cc") == 1);
  CHECK(orphans("kernels/CMakeLists.txt", "f(${op}/v0.cc)", "kernels/a/b/v0.cc") == 1);
  CHECK(orphans("kernels/CMakeLists.txt", "f(a/v${n}.cc)", "kernels/a/v1.cc") == 0);
  CHECK(orphans("store/CMakeLists.txt", "f(${CMAKE_SOURCE_DIR}/web/x.cc)", "store/x.cc") == 1);
  CHECK(orphans("store/CMakeLists.txt", "f(${CMAKE_CURRENT_SOURCE_DIR}/x.cc)", "store/x.cc") == 0);
  CHECK(orphans("store/CMakeLists.txt", "f(${SOURCES})", "store/x.cc") == 1);
}

TEST_CASE("a header that no other file includes is an orphan") {
  const Source header{"store/x.h", "#include \"store/x.h\"\n"};
  const Source build{"store/CMakeLists.txt", "f(x.cc)"};
  CHECK(orphan_rule({build, header}).size() == 1);
  CHECK(orphan_rule({build, header, {"store/x.cc", "#include \"store/x.h\"\n"}}).empty());
  CHECK(orphan_rule({build, header, {"store/x.cc", "// #include \"store/x.h\"\n"}}).size() == 1);
}

}  // namespace tidy
