// Targets that are reached over a network, by git's own server on the loopback.
#include "store/git/remote.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <fstream>
#include <optional>

#include <catch2/catch.hpp>
#include "base/clock.h"
#include "base/fd.h"
#include "base/process.h"
#include "store/git/repository.h"
#include "store/git/test_repository.h"
#include "store/git/worktree_pool.h"

namespace store::git {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using base::ErrorCode;
using Catch::Contains;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int free_port() {
  const base::Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = loopback(0);
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

bool answers(int port) {
  const base::Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = loopback(port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// A bare repository that git serves for reading and pushing.
struct Served {
  TempFolder temp;
  fs::path checkout = make_target(temp);
  fs::path bare = temp.path() / "bare.git";
  int port = free_port();
  std::string url = "git://127.0.0.1:" + std::to_string(port) + "/bare.git";
  std::optional<base::ProcessTree> server;

  Served() {
    git(temp.path(), "clone -q --bare target bare.git");
    base::Command command;
    command.argv = {must(base::find_program("git", "/usr/local/bin:/usr/bin:/bin")),
                    "daemon",
                    "--reuseaddr",
                    "--listen=127.0.0.1",
                    "--port=" + std::to_string(port),
                    "--export-all",
                    "--enable=receive-pack",
                    "--base-path=" + temp.path().string()};
    command.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent"};
    server.emplace(must(base::ProcessTree::start(command)));
    for (int i = 0; i < 1000 && !answers(port); ++i) base::wait_s(0.01);
    REQUIRE(answers(port));
  }

  Mirror open() const { return must(Mirror::open(temp.path() / "mirror", url)); }

  void hook(const std::string& name, const std::string& script) const {
    write(bare / "hooks" / name, "#!/bin/sh\n" + script);
    fs::permissions(bare / "hooks" / name, fs::perms::owner_all);
  }
  static CommitId winner(const Mirror& mirror, const CommitId& base, const std::string& name) {
    const CommitId made =
        must(mirror.commit_files(base, {{name, name}}, text(name), "night/" + name));
    return std::get<Merged>(must(mirror.merge(base, made, text("Merge " + name)))).commit;
  }
};

TEST_CASE_METHOD(Served, "a remote target is mirrored, checked out, and its branches followed") {
  git(bare, "branch try/a");
  Mirror mirror = open();
  const CommitId first = must(mirror.base_commit("main"));
  CHECK(first == tip(bare, "main"));
  CHECK(must(mirror.try_branches()).size() == 1);
  WorktreePool pool(temp.path() / "pool", mirror);
  const Workspace workspace = must(pool.acquire("base", first));
  CHECK(read(workspace.tree / "a.txt") == "one\ntwo\nthree\n");

  // A rewritten branch and a deleted one.
  git(checkout, "commit -q --amend -m rewritten");
  git(checkout, "push -q -f " + bare.string() + " HEAD:main");
  git(bare, "branch -D try/a");
  must(mirror.fetch());
  CHECK(must(mirror.base_commit("main")) == tip(checkout, "HEAD"));
  CHECK(must(mirror.try_branches()).empty());
  CHECK(must(mirror.file_at(first, "a.txt")) == "one\ntwo\nthree\n");  // what was measured stays
}

TEST_CASE_METHOD(Served, "a winner is pushed once, and nothing else at the remote changes") {
  git(bare, "branch other");
  const Mirror mirror = open();
  const CommitId base = must(mirror.base_commit("main"));
  const CommitId win = winner(mirror, base, "one");
  const Landing landing = must(mirror.land("", "main", base, win));
  CHECK(landing.landed_ref == "refs/heads/main");
  CHECK(landing.base_moved_to_commit);
  CHECK(tip(bare, "main") == win);
  CHECK(git(bare, "for-each-ref --format='%(refname)'") == "refs/heads/main\nrefs/heads/other\n");
  CHECK(tip(bare, "other") == base);
  CHECK_THAT(git(bare, "fsck --full --strict"), !Contains("missing") && !Contains("error"));

  CHECK(must(mirror.land("", "main", base, win)).base_moved_to_commit);
  // Also when others have moved on from it.
  const CommitId later = winner(mirror, win, "two");
  must(mirror.land("", "main", win, later));
  CHECK(must(mirror.land("", "main", base, win)).base_moved_to_commit);
  CHECK(tip(bare, "main") == later);
}

TEST_CASE_METHOD(Served, "a remote base that moved is a conflict that names the commit found") {
  const Mirror mirror = open();
  const CommitId base = must(mirror.base_commit("main"));
  const CommitId win = winner(mirror, base, "one");
  SECTION("before the push") {
    const CommitId moved = commit(checkout, {{"b.txt", "b\n"}}, "moved");
    git(checkout, "push -q " + bare.string() + " HEAD:main");
    const auto landed = mirror.land("", "main", base, win);
    REQUIRE_FALSE(landed);
    CHECK(landed.error().code == ErrorCode::conflict);
    CHECK_THAT(landed.error().message, Contains(moved.hex));
    CHECK(tip(bare, "main") == moved);
  }
  SECTION("back to an ancestor of ours, which a plain push would go over") {
    const CommitId later = winner(mirror, win, "two");
    git(bare, "update-ref refs/heads/main " + base.hex);
    const auto landed = mirror.land("", "main", win, later);
    REQUIRE_FALSE(landed);
    CHECK(landed.error().code == ErrorCode::conflict);
    CHECK(tip(bare, "main") == base);
  }
  SECTION("while the objects were on their way") {
    const CommitId moved = commit(checkout, {{"b.txt", "b\n"}}, "moved");
    git(checkout, "push -q " + bare.string() + " HEAD:other");
    hook("pre-receive", "echo " + moved.hex + " > refs/heads/main\n");
    const auto landed = mirror.land("", "main", base, win);
    REQUIRE_FALSE(landed);
    CHECK(landed.error().code == ErrorCode::conflict);
    CHECK(tip(bare, "main") == moved);
  }
  SECTION("away altogether") {
    git(bare, "update-ref -d refs/heads/main");
    git(bare, "update-ref refs/heads/other " + base.hex);
    const auto landed = mirror.land("", "main", base, win);
    REQUIRE_FALSE(landed);
    CHECK(landed.error().code == ErrorCode::conflict);
    CHECK_THAT(landed.error().message, Contains("no such branch"));
  }
}

TEST_CASE_METHOD(Served, "a server that does not let us push is no moved base") {
  const Mirror mirror = open();
  const CommitId base = must(mirror.base_commit("main"));
  hook("pre-receive", "exit 1\n");
  const auto landed = mirror.land("", "main", base, winner(mirror, base, "one"));
  REQUIRE_FALSE(landed);
  CHECK(landed.error().code != ErrorCode::conflict);
  CHECK_THAT(landed.error().text(), Contains("hook declined") && Contains(url));
  CHECK(tip(bare, "main") == base);
}

TEST_CASE_METHOD(Served, "a remote that went away is named, and what is known stays") {
  Mirror mirror = open();
  const CommitId base = must(mirror.base_commit("main"));
  server->end_all();
  server.reset();
  const Status fetched = mirror.fetch();
  REQUIRE_FALSE(fetched);
  CHECK_THAT(fetched.error().text(), Contains(url));
  CHECK(must(mirror.base_commit("main")) == base);
  const auto landed = mirror.land("", "main", base, winner(mirror, base, "one"));
  REQUIRE_FALSE(landed);
  CHECK(landed.error().code != ErrorCode::conflict);
}

TEST_CASE("what is a remote, and which remotes are refused") {
  for (const char* remote : {"https://example.org/x.git", "ssh://example.org/x", "git@host:x.git",
                             "git://127.0.0.1:9418/x.git"}) {
    INFO(remote);
    CHECK(is_remote(remote));
    CHECK(check_remote(remote));
  }
  for (const char* local : {"/srv/x.git", "x.git", "file:///srv/x.git", "./a@b:c", "a/b@c:d"}) {
    INFO(local);
    CHECK_FALSE(is_remote(local));
  }
  CHECK(check_remote("ssh://git@example.org:22/x.git"));
  CHECK(check_remote("https://ann:secret@example.org/x").error().code == ErrorCode::bad_input);
  CHECK(check_remote("ftp://example.org/x").error().code == ErrorCode::bad_input);
}

}  // namespace
}  // namespace store::git
