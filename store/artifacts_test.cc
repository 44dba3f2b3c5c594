#include "store/artifacts.h"

#include <sys/stat.h>

#include "store/test_store.h"

using namespace store;

namespace {

struct ArtifactFolder {
  base::TempDir state;
  Artifacts artifacts = expect_ok(Artifacts::open(state.path()));
  ArtifactFolder() {
    std::filesystem::create_directories(artifacts.folder() / "E-7" / "0");
    expect_ok(
        base::write_file_atomically(artifacts.folder() / "E-7" / "0" / "stdout", "0123456789"));
    expect_ok(base::write_file_atomically(state / "secret", "key"));
  }
};

}  // namespace

TEST_CASE("an artifact is read whole, in part or from its end") {
  ArtifactFolder fixture;
  auto read = [&](std::int64_t offset, std::int64_t limit) {
    return expect_ok(fixture.artifacts.read("E-7/0/stdout", offset, limit));
  };
  CHECK(read(0, 100).bytes == "0123456789");
  CHECK(read(0, 100).complete());
  CHECK(read(0, 4).bytes == "0123");
  CHECK_FALSE(read(0, 4).complete());
  CHECK(read(0, 4).file_bytes == 10);
  CHECK(read(4, 3).bytes == "456");
  CHECK(read(-3, 100).bytes == "789");
  CHECK(read(-3, 100).offset == 7);
  CHECK(read(-1000, 100).bytes == "0123456789");
  CHECK(read(1000, 100).bytes.empty());
  CHECK(read(0, -5).bytes.empty());
  CHECK(expect_ok(fixture.artifacts.path_of("E-7/0/stdout")) ==
        fixture.artifacts.folder() / "E-7/0/stdout");
  CHECK(expect_ok(fixture.artifacts.path_of("E-8/new")).parent_path().filename() == "E-8");
}

TEST_CASE("no name leads out of the folder") {
  ArtifactFolder fixture;
  for (std::string name :
       {"", "/", "/etc/passwd", "..", "../secret", "E-7/../../secret", "E-7/..", "./E-7/0/stdout",
        "E-7//0/stdout", "E-7/0/stdout/", "E-7\\..\\secret", "E-7/0/stdout/x"}) {
    INFO(name);
    auto error = expect_error(fixture.artifacts.read(name, 0, 100));
    CHECK(error.code == base::ErrorCode::bad_input);
  }
  CHECK(expect_error(fixture.artifacts.path_of("../secret")).code == base::ErrorCode::bad_input);
  CHECK_FALSE(fixture.artifacts.path_of(std::string("E-7\0/../../secret", 17)));
  CHECK_FALSE(fixture.artifacts.path_of(std::string(5000, 'a')));
  CHECK(expect_error(fixture.artifacts.read("..%2fsecret", 0, 1)).code ==
        base::ErrorCode::not_found);
}

TEST_CASE("no symbolic link leads out of the folder, nor within") {
  ArtifactFolder fixture;
  const auto folder = fixture.artifacts.folder();
  std::filesystem::create_symlink(fixture.state / "secret", folder / "E-7" / "link");
  std::filesystem::create_directory_symlink(fixture.state.path(), folder / "E-8");
  std::filesystem::create_symlink("0/stdout", folder / "E-7" / "inside");
  for (std::string name : {"E-7/link", "E-8/secret", "E-7/inside", "E-8/artifacts/E-7/0/stdout"}) {
    INFO(name);
    CHECK(expect_error(fixture.artifacts.read(name, 0, 100)).code == base::ErrorCode::bad_input);
    CHECK(expect_error(fixture.artifacts.path_of(name)).code == base::ErrorCode::bad_input);
  }
}

TEST_CASE("only regular files are read") {
  ArtifactFolder fixture;
  REQUIRE(::mkfifo((fixture.artifacts.folder() / "pipe").c_str(), 0600) == 0);
  CHECK(expect_error(fixture.artifacts.read("pipe", 0, 100)).code == base::ErrorCode::not_found);
  CHECK(expect_error(fixture.artifacts.read("E-7", 0, 100)).code == base::ErrorCode::not_found);
  CHECK(expect_error(fixture.artifacts.read("E-9/none", 0, 100)).code ==
        base::ErrorCode::not_found);
}
