#include <atomic>
#include <latch>
#include <thread>

#include <catch2/catch.hpp>
#include "store/git/repository.h"
#include "store/git/test_repository.h"

namespace store::git {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using base::ErrorCode;
using Catch::Contains;

struct LandFixture {
  TempFolder temp;
  fs::path checkout = make_target(temp);
  fs::path bare = temp.path() / "bare.git";

  LandFixture() { git(temp.path(), "clone -q --bare target bare.git"); }

  Mirror open(const fs::path& target) {
    return must(
        Mirror::open(temp.path() / ("mirror-of-" + target.filename().string()), target.string()));
  }
  // A merge commit of a change to one file of its own.
  static CommitId winner(const Mirror& mirror, const CommitId& base, const std::string& name) {
    const CommitId made =
        must(mirror.commit_files(base, {{name, name}}, text(name), "night/" + name));
    return std::get<Merged>(must(mirror.merge(base, made, text("Merge " + name)))).commit;
  }
  static std::string refs(const fs::path& repository) {
    return git(repository, "for-each-ref --format='%(refname)'");
  }
};

TEST_CASE_METHOD(LandFixture, "a winner lands on a bare target, once, and whole") {
  const Mirror mirror = open(bare);
  const CommitId base = must(mirror.base_commit("main"));
  const CommitId win = winner(mirror, base, "one");
  const Landing landing = must(mirror.land(bare, "main", base, win));
  CHECK(landing.landed_ref == "refs/heads/main");
  CHECK(landing.base_moved_to_commit);
  CHECK(tip(bare, "main") == win);
  CHECK(refs(bare) == "refs/heads/main\n");  // no temporary ref stays
  CHECK_THAT(git(bare, "fsck --full --strict"), !Contains("missing") && !Contains("error"));
  CHECK(git(bare, "show main:one") == "one");

  CHECK(must(mirror.land(bare, "main", base, win)).base_moved_to_commit);
  // Also when others have moved on from it.
  const CommitId later = winner(mirror, win, "two");
  must(mirror.land(bare, "main", win, later));
  CHECK(must(mirror.land(bare, "main", base, win)).base_moved_to_commit);
  CHECK(tip(bare, "main") == later);
}

TEST_CASE_METHOD(LandFixture, "a base that moved is a conflict that names the commit found") {
  const Mirror mirror = open(bare);
  const CommitId base = must(mirror.base_commit("main"));
  const CommitId win = winner(mirror, base, "one");
  const CommitId moved = commit(checkout, {{"b.txt", "b"}}, "meanwhile");
  git(checkout, "push -q ../bare.git main");
  const auto landing = mirror.land(bare, "main", base, win);
  REQUIRE_FALSE(landing);
  CHECK(landing.error().code == ErrorCode::conflict);
  CHECK_THAT(landing.error().message, Contains(moved.hex));
  CHECK(tip(bare, "main") == moved);
}

TEST_CASE_METHOD(LandFixture, "of several that land at the same time exactly one wins") {
  constexpr int kThreads = 4, kRounds = 15;
  const bool in_checkout = GENERATE(false, true);
  const fs::path target = in_checkout ? checkout : bare;
  const std::string ref = in_checkout ? "nightshift/landed" : "main";
  Mirror mirror = open(target);
  CommitId base = must(mirror.base_commit("main"));
  for (int round = 0; round < kRounds; ++round) {
    std::vector<CommitId> wins;
    for (int i = 0; i < kThreads; ++i) {
      wins.push_back(winner(mirror, base, "f" + std::to_string(round) + "-" + std::to_string(i)));
    }
    std::latch start(kThreads);
    std::vector<base::Result<Landing>> landings(kThreads);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
          start.arrive_and_wait();
          landings[i] = mirror.land(target, "main", base, wins[i]);
        });
      }
    }
    int won = -1;
    for (int i = 0; i < kThreads; ++i) {
      if (landings[i]) {
        CHECK(won == -1);
        won = i;
      } else {
        INFO(landings[i].error().text());
        // unavailable: another held the ref's lock at that moment.
        CHECK((landings[i].error().code == ErrorCode::conflict ||
               landings[i].error().code == ErrorCode::unavailable));
      }
    }
    REQUIRE(won >= 0);
    CHECK(tip(target, ref) == wins[won]);
    must(mirror.fetch());
    base = must(mirror.landing_tip("main"));
    CHECK(base == wins[won]);
  }
}

TEST_CASE_METHOD(LandFixture, "a checked-out base stays: the winner lands beside it") {
  write(checkout / "a.txt", "the user's unsaved thought\n");
  write(checkout / "untracked", "u");
  write(checkout / "staged", "s");
  git(checkout, "add staged");
  git(checkout, "status");  // refreshes the index before it is compared
  Mirror mirror = open(checkout);
  const CommitId base = must(mirror.base_commit("main"));
  const CommitId win = winner(mirror, base, "one");
  const auto before = snapshot(checkout);
  const std::string status = git(checkout, "--no-optional-locks status --porcelain");

  const Landing landing = must(mirror.land(checkout, "main", base, win));
  CHECK(landing.landed_ref == "refs/heads/nightshift/landed");
  CHECK_FALSE(landing.base_moved_to_commit);
  CHECK_THAT(landing.instruction, Contains("git merge --ff-only nightshift/landed") &&
                                      Contains(fs::canonical(checkout).string()));
  CHECK(tip(checkout, "main") == base);
  CHECK(tip(checkout, "nightshift/landed") == win);
  for (auto [name, content] : snapshot(checkout)) {
    const bool added = name.starts_with(".git/objects/") ||
                       name == ".git/refs/heads/nightshift/landed" ||
                       name == ".git/logs/refs/heads/nightshift/landed";
    if (added) continue;
    INFO(name);
    CHECK(before.contains(name));
    CHECK(before.at(name) == content);
  }
  CHECK(git(checkout, "--no-optional-locks status --porcelain") == status);
  CHECK_FALSE(must(mirror.land(checkout, "main", base, win)).base_moved_to_commit);

  git(checkout, "merge -q --ff-only nightshift/landed");
  CHECK(tip(checkout, "main") == win);
  CHECK(must(mirror.land(checkout, "main", base, win)).base_moved_to_commit);
}

TEST_CASE_METHOD(LandFixture, "a clean checkout is clean after landing") {
  const Mirror mirror = open(checkout);
  const CommitId base = must(mirror.base_commit("main"));
  must(mirror.land(checkout, "main", base, winner(mirror, base, "one")));
  CHECK(git(checkout, "status --porcelain").empty());
}

TEST_CASE_METHOD(LandFixture, "a merge that waits for the user is built upon, never dropped") {
  Mirror mirror = open(checkout);
  const CommitId base = must(mirror.base_commit("main"));
  const CommitId first = winner(mirror, base, "one"), second = winner(mirror, base, "two");
  must(mirror.land(checkout, "main", base, first));
  const auto refused = mirror.land(checkout, "main", base, second);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::conflict);
  CHECK_THAT(refused.error().message, Contains(first.hex));

  must(mirror.fetch());
  CHECK(must(mirror.landing_tip("main")) == first);
  const CommitId both = winner(mirror, first, "two");
  SECTION("beside the checked-out branch") {
    CHECK_FALSE(must(mirror.land(checkout, "main", first, both)).base_moved_to_commit);
    CHECK(tip(checkout, "nightshift/landed") == both);
  }
  SECTION("on the branch, once it is free") {
    git(checkout, "checkout -q -b elsewhere");
    CHECK(must(mirror.land(checkout, "main", first, both)).base_moved_to_commit);
    CHECK(tip(checkout, "main") == both);
  }
  SECTION("the waiting one itself, once the branch is free") {
    git(checkout, "checkout -q -b elsewhere");
    CHECK(must(mirror.land(checkout, "main", base, first)).base_moved_to_commit);
    CHECK(tip(checkout, "main") == first);
  }
}

TEST_CASE_METHOD(LandFixture, "a branch in use in any worktree is in use") {
  fs::path target = bare;
  const Mirror mirror = open(bare);
  const CommitId base = must(mirror.base_commit("main"));
  SECTION("a worktree of a bare repository") { git(bare, "worktree add -q ../linked main"); }
  SECTION("a worktree in the middle of a rebase") {
    git(bare, "worktree add -q ../linked main");
    commit(temp.path() / "linked", {{"a.txt", "x"}}, "mine");
    git(temp.path() / "linked", "reset -q --hard HEAD~1");
    git(temp.path() / "linked", "-c sequence.editor=true rebase -q --exec false --root || true");
    CHECK_THAT(git(temp.path() / "linked", "status"), Contains("rebas"));
  }
  SECTION("named by the path of a linked worktree") {
    git(bare, "worktree add -q ../linked main");
    target = temp.path() / "linked";
  }
  CHECK_FALSE(
      must(mirror.land(target, "main", base, winner(mirror, base, "one"))).base_moved_to_commit);
  CHECK(tip(bare, "main") == base);
}

TEST_CASE_METHOD(LandFixture, "what must not land is refused") {
  commit(checkout, {{"c", "c"}}, "other");
  git(checkout, "push -q ../bare.git main:other");
  git(bare, "symbolic-ref refs/heads/alias refs/heads/main");
  const Mirror mirror = open(bare);
  const CommitId base = must(mirror.base_commit("main"));
  const CommitId other = must(mirror.base_commit("other"));
  const CommitId win = winner(mirror, base, "one");
  const auto code = [&](const std::string& branch, const CommitId& from, const CommitId& to) {
    return mirror.land(bare, branch, from, to).error().code;
  };
  CHECK(code("main", other, win) == ErrorCode::bad_input);  // would drop commits
  CHECK(code("alias", base, win) == ErrorCode::bad_input);  // would move another branch
  CHECK(code("absent", base, win) == ErrorCode::not_found);
  CHECK(code("../main", base, win) == ErrorCode::bad_input);
  CHECK(code("main", base, {std::string(40, 'b')}) == ErrorCode::not_found);
  write(bare / "refs/heads/main.lock", "");
  const auto locked = mirror.land(bare, "main", base, win);
  CHECK(locked.error().code == ErrorCode::unavailable);
  CHECK_THAT(locked.error().message, Contains("refs/heads/main.lock"));
  fs::remove(bare / "refs/heads/main.lock");
  CHECK(tip(bare, "main") == base);

  git(bare, "worktree add -q ../m main");
  git(bare, "branch nightshift/landed main");
  git(bare, "worktree add -q ../l nightshift/landed");
  CHECK(code("main", base, win) == ErrorCode::conflict);  // the landed branch is in use too
}

}  // namespace
}  // namespace store::git
