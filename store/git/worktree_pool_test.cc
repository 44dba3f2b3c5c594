#include "store/git/worktree_pool.h"

#include <sys/stat.h>

#include <fstream>
#include <thread>

#include <catch2/catch.hpp>
#include "store/git/test_repository.h"

namespace store::git {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using base::ErrorCode;
using Catch::Contains;

struct PoolFixture {
  TempFolder temp;
  fs::path target = make_target(temp);
  CommitId first = commit(target, {{".gitignore", "*.o\n"}, {"keep.txt", "same\n"}}, "one");
  CommitId second = [&] {
    fs::remove(target / "src/deep.h");
    return commit(target, {{"a.txt", "changed\n"}, {"dir/new.txt", "n\n"}}, "two");
  }();
  Mirror mirror = must(Mirror::open(temp.path() / "mirror", target.string()));
  WorktreePool pool{temp.path() / "pool", mirror};
  fs::path gitdir = temp.path() / "mirror/worktrees/cand-1";

  // The tree holds exactly the commit, judged by git itself.
  void check_is(const Workspace& workspace, const CommitId& commit) {
    CHECK(workspace.commit == commit);
    CHECK(tip(workspace.tree, "HEAD") == commit);
    CHECK(git(workspace.tree, "status --porcelain -uall").empty());
    must(pool.verify_clean(workspace));
  }
};

TEST_CASE_METHOD(PoolFixture, "a slot switches between commits and keeps its build folder") {
  Workspace workspace = must(pool.acquire("cand-1", first));
  check_is(workspace, first);
  CHECK(read(workspace.tree / "src/x y ü.txt") == "odd\n");
  CHECK(fs::read_symlink(workspace.tree / "link") == "a.txt");
  CHECK((fs::status(workspace.tree / "run.sh").permissions() & fs::perms::owner_exec) !=
        fs::perms::none);
  write(workspace.build / "warm", "w");
  workspace = must(pool.acquire("cand-1", second));
  check_is(workspace, second);
  CHECK(read(workspace.tree / "a.txt") == "changed\n");
  CHECK_FALSE(fs::exists(workspace.tree / "src/deep.h"));
  CHECK(read(workspace.build / "warm") == "w");
  check_is(must(pool.acquire("cand-1", first)), first);
  CHECK(git(mirror.path(), "branch --list").empty());  // no branch for a worktree

  must(pool.acquire("base-0", second));
  CHECK(pool.slots() == std::vector<std::string>{"base-0", "cand-1"});
  must(pool.discard_build("base-0"));
  must(pool.discard_build("base-0"));
  CHECK_FALSE(fs::exists(temp.path() / "pool/base-0/build"));
  must(pool.remove("base-0"));
  CHECK(pool.slots() == std::vector<std::string>{"cand-1"});
  CHECK_THAT(git(mirror.path(), "worktree list"), !Contains("base-0"));
}

TEST_CASE_METHOD(PoolFixture, "only files that differ are written") {
  Workspace workspace = must(pool.acquire("cand-1", first));
  const fs::file_time_type old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const char* name : {"keep.txt", "a.txt", "run.sh"}) {
    fs::last_write_time(workspace.tree / name, old);
  }
  workspace = must(pool.acquire("cand-1", first));  // the index learns the times
  workspace = must(pool.acquire("cand-1", second));
  CHECK(fs::last_write_time(workspace.tree / "keep.txt") == old);
  CHECK(fs::last_write_time(workspace.tree / "run.sh") == old);
  CHECK(fs::last_write_time(workspace.tree / "a.txt") > old);
  check_is(workspace, second);
}

TEST_CASE_METHOD(PoolFixture, "what a build did to the tree is undone, ignored files stay") {
  Workspace workspace = must(pool.acquire("cand-1", first));
  const fs::path tree = workspace.tree;
  write(tree / "a.txt", "dirty\n");
  write(tree / "junk/deep/file", "x");
  write(tree / "made.o", "object");
  fs::remove(tree / "keep.txt");
  fs::remove(tree / "run.sh");
  fs::create_directory(tree / "run.sh");
  write(tree / "run.sh/inside", "x");
  fs::remove_all(tree / "src");
  const fs::path outside = temp.path() / "outside";
  write(outside / "deep.h", "the user's\n");
  fs::create_directory_symlink(outside, tree / "src");
  write(tree / "nested/.git/HEAD", "ref: refs/heads/main\n");
  git(tree, "init -q nested2");
  write(tree / "nested2/file", "x");
  const auto dirty = pool.verify_clean(workspace);
  REQUIRE_FALSE(dirty);
  CHECK(dirty.error().code == ErrorCode::conflict);
  CHECK_THAT(dirty.error().message, Contains("a.txt"));

  const CommitId next = GENERATE(true, false) ? first : second;
  workspace = must(pool.acquire("cand-1", next));
  check_is(workspace, next);
  CHECK(read(tree / "made.o") == "object");
  CHECK_FALSE(fs::exists(tree / "junk"));
  CHECK_FALSE(fs::exists(tree / "nested2/file"));
  CHECK(read(outside / "deep.h") == "the user's\n");
}

TEST_CASE_METHOD(PoolFixture, "ignored files go too where that is asked for") {
  const fs::path tree = must(pool.acquire("cand-1", first)).tree;
  write(tree / "made.o", "object");
  write(tree / "src/sub/made.o", "object");
  check_is(must(pool.acquire("cand-1", first)), first);
  CHECK(fs::exists(tree / "made.o"));
  check_is(must(pool.acquire("cand-1", second, Ignored::remove)), second);
  CHECK_FALSE(fs::exists(tree / "made.o"));
  CHECK_FALSE(fs::exists(tree / "src/sub"));
}

TEST_CASE_METHOD(PoolFixture, "links that a build left lead no write or removal out of the tree") {
  const bool hidden = GENERATE(true, false);
  const CommitId from = must(mirror.commit_files(
      first, {{".gitignore", hidden ? "*.o\ndir\nsrc\na.txt\n" : "*.o\n"}, {"more/x", "x"}},
      text("hide"), "night/hide"));
  const fs::path outside = temp.path() / "outside";
  for (const char* name : {"deep.h", "x y ü.txt", "new.txt", "file"}) {
    write(outside / name, "the user's\n");
  }
  const auto before = snapshot(outside);
  const fs::path tree = must(pool.acquire("cand-1", from)).tree;
  for (const char* folder : {"src", "dir", "more"}) {
    fs::remove_all(tree / folder);
    fs::create_directory_symlink(outside, tree / folder);
  }
  fs::remove(tree / "a.txt");
  fs::create_symlink(outside / "file", tree / "a.txt");
  fs::remove(tree / "keep.txt");
  fs::create_hard_link(outside / "file", tree / "keep.txt");
  check_is(must(pool.acquire("cand-1", second)), second);
  CHECK(snapshot(outside) == before);
  CHECK(read(tree / "dir/new.txt") == "n\n");
}

TEST_CASE_METHOD(PoolFixture, "a source that a build changed behind restored times is restored") {
  Workspace workspace = must(pool.acquire("cand-1", first));
  const fs::path file = workspace.tree / "keep.txt";
  const fs::file_time_type old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  fs::last_write_time(file, old);
  workspace = must(pool.acquire("cand-1", first));
  std::ofstream(file) << "evil\n";  // the same size
  fs::last_write_time(file, old);
  CHECK_FALSE(pool.verify_clean(workspace));
  check_is(must(pool.acquire("cand-1", second)), second);
  CHECK(read(file) == "same\n");
}

TEST_CASE_METHOD(PoolFixture, "files hidden by one commit's ignore rules do not reach the next") {
  const CommitId hiding = must(mirror.commit_files(first, {{".gitignore", "*.o\nevil.h\nevil/\n"}},
                                                   text("hide"), "night/hide"));
  Workspace workspace = must(pool.acquire("cand-1", hiding));
  write(workspace.tree / "src/evil.h", "poison");
  write(workspace.tree / "evil/x.h", "poison");
  write(workspace.tree / "a.o", "object");
  workspace = must(pool.acquire("cand-1", first));
  CHECK_FALSE(fs::exists(workspace.tree / "src/evil.h"));
  CHECK_FALSE(fs::exists(workspace.tree / "evil"));
  CHECK(fs::exists(workspace.tree / "a.o"));
  check_is(workspace, first);

  // Rules that the build itself wrote, in a file of the commit's or a new one.
  const bool own_file = GENERATE(true, false);
  write(workspace.tree / (own_file ? ".gitignore" : "src/.gitignore"), "*.o\nevil.h\n");
  write(workspace.tree / "src/evil.h", "poison");
  workspace = must(pool.acquire("cand-1", first));
  CHECK_FALSE(fs::exists(workspace.tree / "src/evil.h"));
  check_is(workspace, first);
}

TEST_CASE_METHOD(PoolFixture, "a slot that was killed in any state is taken up again") {
  const fs::path slot = temp.path() / "pool/cand-1";
  must(pool.acquire("cand-1", first));
  SECTION("stale locks") {
    write(gitdir / "index.lock", "");
    write(gitdir / "HEAD.lock", "");
  }
  SECTION("the mirror's side is gone") { fs::remove_all(gitdir); }
  SECTION("the mirror's side is empty") {
    fs::remove_all(gitdir);
    fs::create_directories(gitdir);
  }
  SECTION("the tree is gone") { fs::remove_all(slot / "tree"); }
  SECTION("the tree is half there, without an index") {
    fs::remove(gitdir / "index");
    fs::remove(slot / "tree/a.txt");
    write(slot / "tree/keep.txt", "ha");
  }
  SECTION("the link to the mirror is gone") { fs::remove(slot / "tree/.git"); }
  SECTION("the link to the mirror leads elsewhere") {
    write(slot / "tree/.git", "gitdir: " + (target / ".git").string() + "\n");
  }
  SECTION("the link to the mirror is a pipe, and a trap lies beside it") {
    fs::remove(slot / "tree/.git");
    REQUIRE(mkfifo((slot / "tree/.git").c_str(), 0600) == 0);
    fs::create_symlink(target / ".git/HEAD", slot / "tree/.git.new");
  }
  SECTION("HEAD is torn") { write(gitdir / "HEAD", "12"); }
  SECTION("HEAD names a commit that is gone") {
    write(gitdir / "HEAD", std::string(40, 'a') + "\n");
  }
  SECTION("the index is torn") { fs::resize_file(gitdir / "index", 30); }
  SECTION("a switch stopped between files and HEAD") {
    write(slot / "tree/a.txt", "changed\n");
    write(slot / "tree/dir/new.txt", "n\n");
  }
  SECTION("a switch stopped between index and HEAD, back and forth") {
    must(pool.acquire("cand-1", second));
    write(gitdir / "HEAD", first.hex + "\n");
    check_is(must(pool.acquire("cand-1", first)), first);
    write(gitdir / "HEAD", second.hex + "\n");
  }
  SECTION("a build folder half discarded") {
    fs::rename(slot / "build", slot / "discarded");
    write(slot / "discarded/left", "x");
  }
  const auto user_before = snapshot(target / ".git");
  const Workspace workspace = must(pool.acquire("cand-1", second));
  check_is(workspace, second);
  CHECK(fs::is_empty(workspace.build));
  CHECK_FALSE(fs::exists(slot / "discarded"));
  CHECK(snapshot(target / ".git") == user_before);
  check_is(must(pool.acquire("cand-1", first)), first);
}

TEST_CASE_METHOD(PoolFixture, "slots are acquired by several threads at once") {
  constexpr int kThreads = 6, kRounds = 5;
  std::vector<std::string> errors(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        // Two threads a slot.
        const std::string slot = "cand-" + std::to_string(i / 2);
        for (int round = 0; round < kRounds; ++round) {
          const auto workspace = pool.acquire(slot, round % 2 ? first : second);
          if (!workspace) errors[i] = workspace.error().text();
        }
      });
    }
  }
  for (const std::string& error : errors) CHECK(error == "");
  for (const std::string& slot : pool.slots()) check_is(must(pool.acquire(slot, first)), first);
  CHECK(pool.slots().size() == 3);
}

TEST_CASE_METHOD(PoolFixture, "a wrong commit or slot is refused before anything is touched") {
  must(pool.acquire("cand-1", first));
  CHECK(pool.acquire("cand-1", {std::string(40, 'a')}).error().code == ErrorCode::not_found);
  CHECK(pool.acquire("../x", first).error().code == ErrorCode::bad_input);
  CHECK(pool.discard_build("a/b").error().code == ErrorCode::bad_input);
  CHECK(pool.remove("..").error().code == ErrorCode::bad_input);
  CHECK(tip(temp.path() / "pool/cand-1/tree", "HEAD") == first);
}

TEST_CASE_METHOD(PoolFixture, "a submodule is named in a warning") {
  git(target, "update-index --add --cacheinfo 160000," + first.hex + ",third/party");
  git(target, "commit -q -m submodule");
  must(mirror.fetch());
  const CommitId with = must(mirror.base_commit("main"));
  const Workspace workspace = must(pool.acquire("cand-1", with));
  REQUIRE(workspace.warnings.size() == 1);
  CHECK_THAT(workspace.warnings[0], Contains("third/party"));
  must(pool.verify_clean(workspace));
  CHECK(must(pool.acquire("cand-1", first)).warnings.empty());
}

TEST_CASE_METHOD(PoolFixture, "a discarded build folder goes also where it was made read-only") {
  const Workspace workspace = must(pool.acquire("cand-1", first));
  write(workspace.build / "locked/file", "x");
  fs::permissions(workspace.build / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  must(pool.discard_build("cand-1"));
  CHECK_FALSE(fs::exists(workspace.build));
}

}  // namespace
}  // namespace store::git
