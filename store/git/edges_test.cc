// Repositories as people have them: each is checked out as git itself checks it out, or refused
// with what to do.
#include <unistd.h>

#include <fstream>
#include <optional>
#include <thread>

#include <catch2/catch.hpp>
#include "store/git/repository.h"
#include "store/git/test_repository.h"
#include "store/git/worktree_pool.h"

namespace store::git {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using base::ErrorCode;
using Catch::Contains;

struct EdgeFixture {
  TempFolder temp;
  fs::path target = make_target(temp);
  CommitId first = tip(target, "HEAD");
  std::optional<Mirror> opened;
  std::optional<WorktreePool> opened_pool;

  Mirror& mirror() {
    if (!opened) opened.emplace(must(Mirror::open(temp.path() / "mirror", target.string())));
    return *opened;
  }
  WorktreePool& pool() {
    if (!opened_pool) opened_pool.emplace(temp.path() / "pool", mirror());
    return *opened_pool;
  }
  // Files, links and permissions, as a fresh clone of git's own has them.
  std::map<std::string, std::string> as_git(const CommitId& commit) {
    fs::remove_all(temp.path() / "clone");
    git(temp.path(), "clone -q --no-checkout target clone");
    git(temp.path() / "clone", "checkout -q --detach " + commit.hex);
    return without_git(temp.path() / "clone");
  }
  static std::map<std::string, std::string> without_git(const fs::path& tree) {
    auto files = snapshot(tree);
    std::erase_if(files, [](const auto& file) {
      return file.first == ".git" || file.first.starts_with(".git/");
    });
    for (auto& [name, content] : files) {
      const bool runs = !fs::is_symlink(tree / name) && access((tree / name).c_str(), X_OK) == 0;
      content += runs ? "\n(executable)" : "";
    }
    return files;
  }
  static std::string shown(const std::map<std::string, std::string>& files) {
    std::string out;
    for (const auto& [name, content] : files) out += name + ": " + content + "\n";
    return out;
  }
  // There and back, in one warm slot.
  void check_switches(const CommitId& other) {
    must(mirror().fetch());
    for (const CommitId& commit : {first, other, first, other}) {
      const Workspace workspace = must(pool().acquire("cand-1", commit));
      CHECK(shown(without_git(workspace.tree)) == shown(as_git(commit)));
      CHECK(git(workspace.tree, "status --porcelain -uall") == "");
      must(pool().verify_clean(workspace));
    }
  }
};

TEST_CASE_METHOD(EdgeFixture, "odd names, links, modes and line ends are as git has them") {
  std::map<std::string, std::string> files;
  SECTION("odd names") {
    const std::string longest(255, 'n');
    std::string deep;
    for (int i = 0; i < 12; ++i) deep += std::string(80, static_cast<char>('a' + i)) + "/";
    files = {{"-rf", "a dash\n"},
             {"--help/x", "more\n"},
             {"two  spaces /x ", "s\n"},
             {"line\nbreak", "nl\n"},
             {"tab\there", "t\n"},
             {"\"quoted\" \\ back", "q\n"},
             {"日本語/файл.txt", "u\n"},
             {"e\xcc\x81.txt", "decomposed\n"},
             {"\xff\xfe.bin", "no utf-8\n"},
             {longest, "l\n"},
             {deep + "end", "d\n"},
             {":(glob)*", "a pathspec\n"},
             {"[a-z]*?", "g\n"},
             {".gitignored", "i\n"}};
  }
  SECTION("names that differ in case only") {
    files = {{"A.txt", "capital\n"}, {"a.TXT", "end\n"}, {"SRC/deep.h", "other\n"}};
  }
  SECTION("line ends by attribute") {
    files = {{".gitattributes", "*.bat eol=crlf\n*.txt text\n*.sh text eol=lf\n*.bin -text\n"},
             {"run.bat", "echo 1\necho 2\n"},
             {"crlf.bin", "raw\r\nbytes\r\n"},
             {"plain.md", "kept\r\nas it is\r\n"},
             {"notes.txt", "lf\n"}};
  }
  SECTION("contents that look like something else") {
    files = {{"nul", std::string("a\0b", 3)},
             {"empty", ""},
             {"no newline", "x"},
             {".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ../x\n"}};
  }
  check_switches(commit(target, files, "odd"));
}

TEST_CASE_METHOD(EdgeFixture, "executable bits and links switch, and turn into files and back") {
  fs::permissions(target / "run.sh",
                  fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::remove);
  fs::permissions(target / "a.txt", fs::perms::owner_exec, fs::perm_options::add);
  fs::remove(target / "link");
  write(target / "link", "a file now\n");
  fs::remove(target / "src/deep.h");
  fs::create_symlink("x y ü.txt", target / "src/deep.h");
  fs::create_symlink("nowhere/at all", target / "dangling");
  check_switches(commit(target, {}, "turned"));
}

TEST_CASE_METHOD(EdgeFixture,
                 "links that lead out of the tree are kept, and nothing goes through") {
  const fs::path outside = temp.path() / "outside";
  write(outside / "deep.h", "not yours\n");
  const auto before = snapshot(outside);
  // A folder of the first commit is a link to the outside in the second.
  fs::remove_all(target / "src");
  fs::create_symlink(outside, target / "src");
  fs::create_symlink("../../../../etc", target / "up");
  const CommitId linked = commit(target, {}, "linked");
  check_switches(linked);
  CHECK(snapshot(outside) == before);
  // A candidate cannot write below the link.
  const auto made =
      mirror().commit_files(linked, {{"src/deep.h", "mine\n"}}, text("through"), "night/h-1");
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error().text(), Contains("expected a folder at 'src'"));
  // Nor is a link read as if it were what it leads to.
  CHECK_FALSE(mirror().file_at(linked, "src/deep.h"));
}

TEST_CASE_METHOD(EdgeFixture, "what a checkout will lack is said with what to do") {
  git(target, "update-index --add --cacheinfo 160000," + first.hex + ",third/party");
  write(target / "data/.gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') +
      "\nsize 12345\n";
  write(target / "data/model.bin", pointer);
  git(target, "add data");
  git(target, "commit -q -m lacking");
  must(mirror().fetch());
  const CommitId lacking = must(mirror().base_commit("main"));
  CHECK(must(mirror().lacks(first)).empty());
  const auto said = must(mirror().lacks(lacking));
  REQUIRE(said.size() == 2);
  CHECK_THAT(said[0], Contains("data/.gitattributes") && Contains("git-lfs"));
  CHECK_THAT(said[1], Contains("third/party") && Contains("submodule"));
  const Workspace workspace = must(pool().acquire("cand-1", lacking));
  CHECK(read(workspace.tree / "data/model.bin") == pointer);  // as it is, and clean
  must(pool().verify_clean(workspace));
}

TEST_CASE_METHOD(EdgeFixture, "an unborn branch is told apart from a branch with commits") {
  git(target, "checkout -q --orphan coming");
  git(target, "branch -m main there");
  const auto missing = mirror().base_commit("coming");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK_THAT(missing.error().message, Contains("found: there"));
  CHECK(must(mirror().base_commit("there")) == first);
}

TEST_CASE_METHOD(EdgeFixture, "thousands of branches come and go, in one file") {
  constexpr int kBranches = 3000;
  {
    std::ofstream commands(target / ".git/commands");
    for (int i = 0; i < kBranches; ++i) {
      commands << "create refs/heads/topic/" << i % 50 << "/b" << i << " " << first.hex << "\n";
    }
  }
  git(target, "update-ref --stdin < .git/commands");
  must(mirror().fetch());
  CHECK(must(mirror().resolve("topic/49/b2999")) == first);
  const fs::path loose = mirror().path() / "refs/remotes/target";
  CHECK_FALSE(fs::exists(loose));
  CHECK_THAT(git(mirror().path(), "for-each-ref --count=2 refs/remotes/target/topic/7"),
             Contains("topic/7/b1007"));
  CHECK(git(mirror().path(), "fsck --full --strict").find("error") == std::string::npos);

  // A ref with a file of its own, as an earlier version of the daemon left it, hides nothing.
  write(loose / "main", first.hex + "\n");
  const CommitId second = commit(target, {{"b.txt", "b\n"}}, "second");
  git(target, "for-each-ref --format='delete %(refname)' refs/heads/topic > .git/commands");
  git(target, "update-ref --stdin < .git/commands");
  must(mirror().fetch());
  CHECK(must(mirror().base_commit("main")) == second);
  CHECK(mirror().resolve("topic/49/b2999").error().code == ErrorCode::not_found);
  CHECK(git(mirror().path(), "for-each-ref --format='%(refname)' refs/remotes") ==
        "refs/remotes/target/main\n");
}

TEST_CASE_METHOD(EdgeFixture, "our own branches outlive a fetch, also where git has packed them") {
  const CommitId made =
      must(mirror().commit_files(first, {{"c.txt", "c\n"}}, text("mine"), "night/h-1"));
  git(mirror().path(), "tag -a -m told told " + first.hex);
  git(mirror().path(), "pack-refs --all");
  commit(target, {{"b.txt", "b\n"}}, "second");
  must(mirror().fetch());
  CHECK(must(mirror().resolve("night/h-1")) == made);
  CHECK(tip(mirror().path(), "told^{commit}") == first);
  CHECK(git(mirror().path(), "show-ref -d told").find("^{}") != std::string::npos);
}

TEST_CASE_METHOD(EdgeFixture, "a repository that is deleted or emptied loses nothing of ours") {
  const Workspace workspace = must(pool().acquire("cand-1", first));
  SECTION("deleted") {
    fs::rename(target, temp.path() / "elsewhere");
    const Status fetched = mirror().fetch();
    REQUIRE_FALSE(fetched);
    CHECK(fetched.error().code == ErrorCode::not_found);
    CHECK_THAT(fetched.error().text(), Contains(target.string()));
  }
  SECTION("emptied") {
    git(target, "update-ref -d refs/heads/main");
    const Status fetched = mirror().fetch();
    REQUIRE_FALSE(fetched);
    CHECK_THAT(fetched.error().message, Contains("no branch"));
  }
  CHECK(must(mirror().base_commit("main")) == first);
  must(pool().verify_clean(must(pool().acquire("cand-2", first))));
}

TEST_CASE_METHOD(EdgeFixture, "workspaces, candidates, merges and fetches go on side by side") {
  const CommitId second = commit(target, {{"a.txt", "changed\n"}}, "second");
  must(mirror().fetch());
  WorktreePool& workspaces = pool();
  constexpr int kThreads = 4, kRounds = 8;
  std::vector<std::string> errors(kThreads + 1);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        const std::string name = "t" + std::to_string(i);
        for (int round = 0; round < kRounds; ++round) {
          const auto made =
              mirror().commit_files(first, {{name, std::to_string(round)}}, text(name),
                                    "night/" + name + "-" + std::to_string(round));
          const auto workspace = workspaces.acquire(name, made ? *made : first);
          const auto merged = mirror().merge(second, made ? *made : first, text("merge"));
          if (!made) errors[i] = made.error().text();
          if (!workspace) errors[i] = workspace.error().text();
          if (!merged) errors[i] = merged.error().text();
        }
      });
    }
    threads.emplace_back([&] {  // fetches all the while
      for (int round = 0; round < kRounds; ++round) {
        git(target, "branch -f moving " + (round % 2 ? first : second).hex);
        if (auto fetched = mirror().fetch(); !fetched) errors[kThreads] = fetched.error().text();
      }
    });
  }
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(must(mirror().resolve("night/t3-7")).hex.size() == 40);
  CHECK_THAT(git(mirror().path(), "fsck --full --strict"), !Contains("error"));
}

}  // namespace
}  // namespace store::git
