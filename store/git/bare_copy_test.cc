#include "store/git/bare_copy.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/files.h"
#include "store/git/repository.h"

namespace store::git {
namespace {

namespace fs = std::filesystem;
constexpr base::Instant kTime{1'700'000'000'000};

void put_file(const fs::path& file, std::string_view text) {
  REQUIRE(base::ensure_folder(file.parent_path()));
  REQUIRE(base::write_file_atomically(file, text));
}

}  // namespace

TEST_CASE(
    "a folder without git becomes one commit of its files, builds and hidden folders left out") {
  base::TempDir folder;
  fs::path source = folder / "source";
  put_file(source / "nightshift.yaml", "version: 1\n");
  put_file(source / "src/k\u00e4rnel.cc", "int x;\n");
  put_file(source / "run.sh", "true\n");
  fs::permissions(source / "run.sh", fs::perms::owner_all);
  put_file(source / "build/out.o", "x");
  put_file(source / ".cache/y", "y");
  auto commit = make_bare_copy(source, folder / "target.git", "main", kTime);
  REQUIRE(commit);
  auto mirror = Mirror::open(folder / "mirror.git", (folder / "target.git").string());
  REQUIRE(mirror);
  CHECK(mirror->base_commit("main").value() == *commit);
  CHECK(mirror->list_files(*commit).value() ==
        std::vector<std::string>{"nightshift.yaml", "run.sh", "src/k\u00e4rnel.cc"});
  // The same files at the same time make the same commit.
  CHECK(make_bare_copy(source, folder / "again.git", "main", kTime).value() == *commit);
}

TEST_CASE("a repository is copied with the history of what is checked out") {
  base::TempDir folder;
  fs::path source = folder / "source";
  put_file(source / "a", "1\n");
  auto first = make_bare_copy(source, folder / "first.git", "main", kTime);
  REQUIRE(first);
  auto copy = make_bare_copy(folder / "first.git", folder / "second.git", "trunk", kTime);
  REQUIRE(copy);
  CHECK(*copy == *first);
  auto mirror = Mirror::open(folder / "mirror.git", (folder / "second.git").string());
  REQUIRE(mirror);
  CHECK(mirror->base_commit("trunk").value() == *first);
  CHECK_FALSE(mirror->base_commit("main"));
}

TEST_CASE("nothing is overwritten, and a missing source is named") {
  base::TempDir folder;
  put_file(folder / "source" / "a", "1\n");
  put_file(folder / "taken" / "b", "2\n");
  auto taken = make_bare_copy(folder / "source", folder / "taken", "main", kTime);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code == base::ErrorCode::conflict);
  auto missing = make_bare_copy(folder / "nowhere", folder / "x.git", "main", kTime);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == base::ErrorCode::not_found);
  CHECK(missing.error().text().find("nowhere") != std::string::npos);
}

}  // namespace store::git
