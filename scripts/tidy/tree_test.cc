#include "scripts/tidy/tree.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

namespace tidy {
namespace {

namespace fs = std::filesystem;

struct TemporaryFolder {
  fs::path path;
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "tidy-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TemporaryFolder() { fs::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  void write(const fs::path& file) const {
    fs::create_directories((path / file).parent_path());
    std::ofstream(path / file) << file.string();
  }
};

}  // namespace

TEST_CASE("a tree is what the rules are about, in order, and nothing generated") {
  const TemporaryFolder root;
  for (const char* wanted : {"CMakeLists.txt", "cmake/a.cmake", "kernels/a/v0.cu", "store/git/x.h",
                             "store/x.cc", "web/ui/src/x.ts"}) {
    root.write(wanted);
  }
  for (const char* unwanted :
       {"x.cc", "README.md", "store/README", "store/build/x.cc", "store/build-dev/x.cc",
        "store/.cache/x.cc", "store/testdata/x.cc", "build/store/x.cc", "other/x.cc",
        "web/ui/node_modules/a/x.ts", "web/ui/dist/x.ts", "store/x.cc.orig"}) {
    root.write(unwanted);
  }
  std::string paths;
  for (const Source& source : load_tree(root.path)) {
    CHECK(source.text == source.path);
    paths += source.path + "\n";
  }
  CHECK(paths ==
        "CMakeLists.txt\ncmake/a.cmake\nkernels/a/v0.cu\nstore/git/x.h\nstore/x.cc\n"
        "web/ui/src/x.ts\n");
}

TEST_CASE("a tree without folders is empty") {
  const TemporaryFolder root;
  CHECK(load_tree(root.path).empty());
}

}  // namespace tidy
