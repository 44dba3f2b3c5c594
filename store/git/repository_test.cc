#include "store/git/repository.h"

#include <unistd.h>

#include <algorithm>

#include <catch2/catch.hpp>
#include "store/git/names.h"
#include "store/git/test_repository.h"

namespace store::git {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using base::ErrorCode;
using Catch::Contains;
using Catch::StartsWith;

struct Fixture {
  TempFolder temp;
  fs::path target = make_target(temp);
  Mirror mirror = must(Mirror::open(temp.path() / "mirror", target.string()));
  CommitId base = must(mirror.base_commit("main"));
};

TEST_CASE_METHOD(Fixture, "a mirror follows the target's branches, forced and pruned") {
  CHECK(base == tip(target, "main"));
  git(target, "branch gone");
  git(target, "branch try/a");
  const CommitId second = commit(target, {{"b.txt", "b\n"}}, "second");
  must(mirror.fetch());
  CHECK(must(mirror.base_commit("main")) == second);
  CHECK(must(mirror.resolve("gone")) == base);

  git(target, "branch -D gone");
  git(target, "branch -m try/a try/a/b");  // a folder where a branch was
  git(target, "commit -q --amend -m rewritten");
  must(mirror.fetch());
  CHECK(must(mirror.base_commit("main")) == tip(target, "main"));
  CHECK(must(mirror.resolve("try/a/b")) == base);
  CHECK(mirror.resolve("gone").error().code == ErrorCode::not_found);
  CHECK_THAT(git(mirror.path(), "fsck --full --strict"), !Contains("missing"));
}

TEST_CASE_METHOD(Fixture, "a second fetch copies only what is new") {
  std::map<std::string, std::string> many;
  for (int i = 0; i < 300; ++i) many["many/" + std::to_string(i)] = std::to_string(i * 7919);
  commit(target, many, "many");
  must(mirror.fetch());
  const auto packs = [&] {
    std::map<fs::path, std::uintmax_t> out;
    for (const auto& file : fs::directory_iterator(mirror.path() / "objects" / "pack")) {
      if (file.path().extension() == ".pack") out[file.path()] = file.file_size();
    }
    return out;
  };
  const auto before = packs();
  commit(target, {{"a.txt", "changed\n"}}, "small");
  must(mirror.fetch());
  const auto after = packs();
  REQUIRE(after.size() == before.size() + 1);
  for (const auto& [path, size] : after) {
    if (!before.contains(path)) CHECK(size < 2000);
  }
  must(mirror.fetch());
  CHECK(packs() == after);
}

TEST_CASE_METHOD(Fixture, "a missing base branch is told apart from those that exist") {
  git(target, "branch develop");
  must(mirror.fetch());
  const auto error = mirror.base_commit("trunk").error();
  CHECK(error.code == ErrorCode::not_found);
  CHECK_THAT(error.message, Contains("'trunk'") && Contains("develop, main"));
}

TEST_CASE("a target that cannot be mirrored is refused with the reason") {
  TempFolder temp;
  const auto mirror = temp.path() / "mirror";
  const auto error_of = [&](const std::string& target) {
    auto opened = Mirror::open(mirror, target);
    REQUIRE_FALSE(opened);
    return opened.error();
  };
  CHECK(error_of((temp.path() / "absent").string()).code == ErrorCode::not_found);
  fs::create_directories(temp.path() / "plain");
  CHECK_THAT(error_of((temp.path() / "plain").string()).message, Contains("git repository"));
  CHECK_THAT(error_of("svn://example.org/x").message, Contains("https://"));
  const auto secret = error_of("https://ann:hunter2@example.org/x.git");
  CHECK_THAT(secret.message, Contains("NIGHTSHIFT_GIT_TOKEN"));
  CHECK_THAT(secret.text(), !Contains("hunter2"));

  fs::create_directories(temp.path() / "empty");
  git(temp.path() / "empty", "init -q");
  CHECK_THAT(error_of((temp.path() / "empty").string()).message, Contains("no branch"));

  const auto target = make_target(temp);
  commit(target, {{"a.txt", "2\n"}}, "second");
  git(temp.path(), "clone -q --depth 1 'file://" + target.string() + "' shallow");
  CHECK_THAT(error_of((temp.path() / "shallow").string()).message, Contains("shallow"));
}

TEST_CASE("a repository of another user is refused with the way out") {
  if (geteuid() != 0) {
    WARN("skipped: only root can give a folder to another user");
    return;
  }
  TempFolder temp;
  const auto target = make_target(temp);
  for (const auto& entry : fs::recursive_directory_iterator(target)) {
    REQUIRE(lchown(entry.path().c_str(), 12345, 12345) == 0);
  }
  REQUIRE(chown(target.c_str(), 12345, 12345) == 0);
  const auto opened = Mirror::open(temp.path() / "mirror", target.string());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::refused);
  CHECK_THAT(opened.error().message, Contains("another user") && Contains("safe.directory"));
}

TEST_CASE("a mirror whose creation or work was killed opens again") {
  TempFolder temp;
  const auto target = make_target(temp);
  const auto dir = temp.path() / "mirror";
  SECTION("only some folders there") { fs::create_directories(dir / "objects"); }
  SECTION("no refs fetched") { git(temp.path(), "init -q --bare mirror"); }
  SECTION("locks and half a pack left") {
    must(Mirror::open(dir, target.string()));
    write(dir / "refs/remotes/target/main.lock", "");
    write(dir / "packed-refs.lock", "");
    write(dir / "config.lock", "");
    write(dir / "objects/pack/pack_git2_abc123", "half");
    commit(target, {{"a.txt", "2\n"}}, "second");
  }
  Mirror mirror = must(Mirror::open(dir, "file://" + target.string()));
  must(mirror.fetch());
  CHECK(must(mirror.base_commit("main")) == tip(target, "main"));
  CHECK_FALSE(fs::exists(dir / "objects/pack/pack_git2_abc123"));
}

TEST_CASE_METHOD(Fixture, "committing the same change twice makes one commit") {
  const std::vector<FileChange> changes = {{"a.txt", "ONE\n"},
                                           {"new/ü x.txt", "new\n"},
                                           {"src/deep.h", std::nullopt},
                                           {"run.sh", "#\n"}};
  CommitText message = text("Widen the tiles");
  message.body = "Because they are narrow.\n\n--- not a patch";
  message.trailers = {{"Hypothesis", "H-12"}, {"Predicts", "kda_decode.time -9%"}};
  const CommitId first = must(mirror.commit_files(base, changes, message, "night/h-12"));
  CHECK(must(mirror.commit_files(base, changes, message, "night/h-12")) == first);
  CHECK(must(mirror.resolve("night/h-12")) == first);
  CHECK(must(mirror.resolve(first.hex)) == first);
  CHECK(must(mirror.changed_paths(base, first)) ==
        std::vector<std::string>{"a.txt", "new/ü x.txt", "run.sh", "src/deep.h"});
  CHECK(must(mirror.file_at(first, "new/ü x.txt")) == "new\n");
  CHECK(must(mirror.file_at(base, "a.txt")) == "one\ntwo\nthree\n");
  CHECK_THAT(git(mirror.path(), "ls-tree " + first.hex + " run.sh"), Contains("100755"));
  CHECK(must(trailers_of(git(mirror.path(), "log -1 --format=%B night/h-12"))) == message.trailers);
  CHECK_THAT(git(mirror.path(), "fsck --full --strict"), !Contains("error"));
}

TEST_CASE_METHOD(Fixture, "changes that cannot be committed are refused and leave no branch") {
  const auto code = [&](const std::vector<FileChange>& changes, const std::string& branch) {
    auto made = mirror.commit_files(base, changes, text("x"), branch);
    REQUIRE_FALSE(made);
    return made.error().code;
  };
  const auto made =
      mirror.commit_files(base, {{"a.txt", "one\ntwo\nthree\n"}}, text("x"), "night/x");
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error().message, Contains("changes nothing"));
  for (const char* path : {"", "/etc/passwd", "../up", "a/../b", "a//b", "a/", ".git/config",
                           "x/.GIT/hooks", ".git./x", "git~1/x", "line\nbreak", "./a"}) {
    INFO(path);
    CHECK(code({{path, "x"}}, "night/x") == ErrorCode::bad_input);
  }
  CHECK(code({{"a.txt/below", "x"}}, "night/x") == ErrorCode::bad_input);  // a file in the way
  CHECK(code({{"src", "x"}}, "night/x") == ErrorCode::bad_input);          // a folder in the way
  CHECK(code({{"link", "x"}}, "night/x") == ErrorCode::bad_input);         // would redirect it
  CHECK(code({{"absent", std::nullopt}}, "night/x") == ErrorCode::bad_input);
  CHECK(code({{"a.txt", "1"}, {"a.txt", "2"}}, "night/x") == ErrorCode::bad_input);
  for (const char* branch : {"main", "night/", "night/a..b", "night/a b", "night/x.lock",
                             "refs/heads/main", "night/../main"}) {
    INFO(branch);
    CHECK(code({{"a.txt", "x"}}, branch) == ErrorCode::bad_input);
  }
  CHECK(git(mirror.path(), "branch --list").empty());
}

TEST_CASE_METHOD(Fixture, "a file may make way for a folder of its name") {
  const CommitId made = must(mirror.commit_files(
      base, {{"a.txt", std::nullopt}, {"a.txt/inner", "x"}}, text("x"), "night/x"));
  CHECK(must(mirror.file_at(made, "a.txt/inner")) == "x");
}

TEST_CASE("a message keeps foreign text from writing trailers") {
  CommitText message = text("Subject");
  message.trailers = {{"Claim", "fast\nApproved-by: nobody"}};
  CHECK(compose(message).error().code == ErrorCode::bad_input);
  message.trailers = {{"Bad key", "x"}};
  CHECK(compose(message).error().code == ErrorCode::bad_input);
  message.trailers = {};
  message.subject = "two\nlines";
  CHECK(compose(message).error().code == ErrorCode::bad_input);
}

TEST_CASE_METHOD(Fixture, "reading says what is there instead") {
  CHECK(mirror.file_at(base, "nope").error().code == ErrorCode::not_found);
  CHECK_THAT(mirror.file_at(base, "src").error().message, Contains("folder"));
  CHECK_THAT(mirror.file_at(base, "link").error().message, Contains("a.txt"));
  CHECK(mirror.file_at({"12"}, "a.txt").error().code == ErrorCode::bad_input);
  CHECK(mirror.file_at({std::string(40, 'a')}, "a.txt").error().code == ErrorCode::not_found);
  CHECK(must(mirror.list_files(base)) ==
        std::vector<std::string>{"a.txt", "link", "run.sh", "src/deep.h", "src/x y ü.txt"});
}

TEST_CASE_METHOD(Fixture, "a diff is unified, names binary files, and shows where it was cut") {
  const CommitId made = must(
      mirror.commit_files(base, {{"a.txt", "one\nTWO\nthree\n"}, {"bin", std::string("\0\1\2", 3)}},
                          text("x"), "night/x"));
  const std::string whole = must(mirror.diff_text(base, made, 100'000));
  CHECK_THAT(whole, Contains("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n"));
  CHECK_THAT(whole, Contains("Binary files"));
  const std::string cut = must(mirror.diff_text(base, made, 60));
  CHECK(cut.size() < 160);
  CHECK_THAT(cut, Contains("[diff cut after") && Contains("2 files changed"));
  CHECK(whole.starts_with(cut.substr(0, cut.find("[diff cut"))));
  CHECK_THAT(must(mirror.diff_text(base, made, 5)), StartsWith("diff \n[diff cut"));
  CHECK(must(mirror.diff_text(base, base, 100)).empty());
}

TEST_CASE_METHOD(Fixture, "branches under try/ are found with their trailers") {
  git(target, "checkout -q -b try/wider");
  const CommitId wide =
      commit(target, {{"a.txt", "w\n"}},
             "Wider\n\nWhy not.\n\nHypothesis: wider tiles\nPredicts: x.time -9%");
  git(target, "checkout -q -b try/plain main");
  must(mirror.fetch());
  const auto branches = must(mirror.try_branches());
  REQUIRE(branches.size() == 2);
  CHECK(branches[0].name == "try/plain");
  CHECK(branches[0].trailers.empty());
  CHECK(branches[1].name == "try/wider");
  CHECK(branches[1].tip == wide);
  CHECK_THAT(branches[1].message, Contains("Why not."));
  CHECK(branches[1].trailers ==
        Trailers{{"Hypothesis", "wider tiles"}, {"Predicts", "x.time -9%"}});
}

TEST_CASE("slots are plain names") {
  CHECK(check_slot("cand-1"));
  for (const char* slot : {"", "-a", "A", "a/b", "..", "1a", "a b"}) CHECK_FALSE(check_slot(slot));
}

}  // namespace
}  // namespace store::git
