#include "base/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <fstream>
#include <thread>

#include "base/os_error.h"

namespace fs = std::filesystem;
using base::ErrorCode;

TEST_CASE("a file is read back as it was written, binary bytes too") {
  base::TempDir folder;
  std::string bytes("a\0b\xff\n", 5);
  REQUIRE(base::write_file_atomically(folder / "x", bytes));
  CHECK(base::read_file(folder / "x").value() == bytes);
}

TEST_CASE("a file above the limit is refused and one at the limit is read") {
  base::TempDir folder;
  REQUIRE(base::write_file_atomically(folder / "x", std::string(1000, 'x')));
  CHECK(base::read_file(folder / "x", 1000));
  auto refused = base::read_file(folder / "x", 999);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::refused);
  CHECK(refused.error().text().find("999") != std::string::npos);
}

TEST_CASE("a missing file and a folder in its place are errors that name the path") {
  base::TempDir folder;
  auto missing = base::read_file(folder / "no");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().context == (folder / "no").string());
  CHECK_FALSE(base::read_file(folder.path()));
}

TEST_CASE("a FIFO without a writer does not hang a reader") {
  base::TempDir folder;
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK(base::read_file(folder / "fifo").value().empty());
}

TEST_CASE("a failed write leaves the old file and no temporary one") {
  base::TempDir folder;
  REQUIRE(base::ensure_folder(folder / "x" / "below"));
  CHECK_FALSE(base::write_file_atomically(folder / "x", "new"));  // a folder is in the way
  CHECK_FALSE(base::write_file_atomically(folder / "no" / "x", "new"));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("readers see the old or the new file, never a part") {
  base::TempDir folder;
  const std::string a(100'000, 'a'), b(100'000, 'b');
  REQUIRE(base::write_file_atomically(folder / "x", a));
  std::jthread writer([&] {
    for (int i = 0; i < 50; ++i) {
      (void)base::write_file_atomically(folder / "x", i % 2 ? a : b, base::Durability::fast);
    }
  });
  for (int i = 0; i < 200; ++i) {
    std::string seen = base::read_file(folder / "x").value();
    bool whole = seen == a || seen == b;
    REQUIRE(whole);
  }
}

TEST_CASE("folders are made with those above them, and a file in the way is said") {
  base::TempDir folder;
  CHECK(base::ensure_folder(folder / "a/b/c"));
  CHECK(base::ensure_folder(folder / "a/b/c"));
  REQUIRE(base::write_file_atomically(folder / "file", ""));
  auto blocked = base::ensure_folder(folder / "file/x");
  REQUIRE_FALSE(blocked);
  CHECK(blocked.error().message.find("file") != std::string::npos);
  CHECK_FALSE(base::ensure_folder(folder / "file"));
}

TEST_CASE("a tree is removed with its read-only folders, and links are not followed") {
  base::TempDir folder;
  REQUIRE(base::ensure_folder(folder / "kept"));
  REQUIRE(base::write_file_atomically(folder / "kept/file", "x"));
  REQUIRE(base::ensure_folder(folder / "tree/closed"));
  REQUIRE(base::write_file_atomically(folder / "tree/closed/file", "x"));
  fs::create_directory_symlink(folder / "kept", folder / "tree/link");
  ::chmod((folder / "tree/closed").c_str(), 0500);
  CHECK(base::remove_tree(folder / "tree"));
  CHECK_FALSE(fs::exists(folder / "tree"));
  CHECK(fs::exists(folder / "kept/file"));
  CHECK(base::remove_tree(folder / "tree"));
}

TEST_CASE("every frequent failure says what to do") {
  for (int error : {EACCES, ENOSPC, EROFS, ENOENT, EDQUOT, EMFILE}) {
    auto text = base::os_error(error, "write", "the/path").text();
    INFO(text);
    CHECK(text.find("the/path: could not write: ") == 0);
    CHECK(text.back() == ')');
  }
  CHECK(base::os_error(ENOENT, "open", "x").code == ErrorCode::not_found);
  CHECK(base::os_error(ENOSPC, "open", "x").code == ErrorCode::io);
}
