#include <catch2/catch.hpp>
#include "store/git/repository.h"
#include "store/git/test_repository.h"

namespace store::git {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using base::ErrorCode;
using Catch::Contains;

struct MergeFixture {
  TempFolder temp;
  fs::path target = make_target(temp);
  Mirror mirror = must(Mirror::open(temp.path() / "mirror", target.string()));
  CommitId base = must(mirror.base_commit("main"));

  CommitId candidate(const std::vector<FileChange>& changes, const std::string& branch) {
    return must(mirror.commit_files(base, changes, text(branch), branch));
  }
  CommitId advance(const std::map<std::string, std::string>& files) {
    CommitId moved = commit(target, files, "advance");
    must(mirror.fetch());
    return moved;
  }
  std::string parents(const CommitId& id) {
    return git(mirror.path(), "log -1 --format=%P " + id.hex);
  }
};

TEST_CASE_METHOD(MergeFixture, "a clean merge has both parents and the same id each time") {
  const CommitId ours = candidate({{"src/deep.h", "deeper\n"}}, "night/c");
  const CommitId moved = advance({{"a.txt", "zero\none\ntwo\nthree\n"}});
  CommitText message = text("Merge night/c");
  message.trailers = {{"Effect", "-9%"}};
  const auto merged = std::get<Merged>(must(mirror.merge(moved, ours, message, "night/m"))).commit;
  CHECK(std::get<Merged>(must(mirror.merge(moved, ours, message))).commit == merged);
  CHECK(parents(merged) == moved.hex + " " + ours.hex + "\n");
  CHECK(must(mirror.file_at(merged, "a.txt")) == "zero\none\ntwo\nthree\n");
  CHECK(must(mirror.file_at(merged, "src/deep.h")) == "deeper\n");
  CHECK(must(mirror.resolve("night/m")) == merged);
  CHECK(must(mirror.contains(merged, ours)));
  CHECK_FALSE(must(mirror.contains(moved, ours)));
}

TEST_CASE_METHOD(MergeFixture, "a candidate on top of base is still merged, never fast-forwarded") {
  const CommitId ours = candidate({{"a.txt", "x\n"}}, "night/c");
  const auto merged = std::get<Merged>(must(mirror.merge(base, ours, text("m")))).commit;
  CHECK(merged != ours);
  CHECK(parents(merged) == base.hex + " " + ours.hex + "\n");
}

TEST_CASE_METHOD(MergeFixture, "a conflict names its paths and writes nothing") {
  const CommitId ours =
      candidate({{"a.txt", "X\n"}, {"src/deep.h", std::nullopt}, {"fine", "f"}}, "night/c");
  const CommitId moved = advance({{"a.txt", "Y\n"}, {"src/deep.h", "changed\n"}});
  const auto outcome = must(mirror.merge(moved, ours, text("m"), "night/m"));
  CHECK(std::get<Conflicts>(outcome).paths == std::vector<std::string>{"a.txt", "src/deep.h"});
  CHECK_FALSE(mirror.resolve("night/m"));
}

TEST_CASE_METHOD(MergeFixture, "what base contains already is not merged again") {
  const CommitId moved = advance({{"a.txt", "Y\n"}});
  CHECK(mirror.merge(moved, base, text("m")).error().code == ErrorCode::bad_input);
  CHECK(mirror.merge(moved, moved, text("m")).error().code == ErrorCode::bad_input);
}

TEST_CASE_METHOD(MergeFixture, "a revert undoes what a merge brought, and conflicts openly") {
  const CommitId ours = candidate({{"a.txt", "X\n"}}, "night/c");
  const auto merged = std::get<Merged>(must(mirror.merge(base, ours, text("m")))).commit;
  const auto undone = std::get<Merged>(must(mirror.revert(merged, merged, text("r")))).commit;
  CHECK(must(mirror.changed_paths(base, undone)).empty());
  CHECK(parents(undone) == merged.hex + "\n");
  CHECK(mirror.revert(undone, merged, text("again")).error().code == ErrorCode::bad_input);

  const CommitId later =
      must(mirror.commit_files(merged, {{"a.txt", "later\n"}}, text("l"), "night/l"));
  CHECK(std::get<Conflicts>(must(mirror.revert(later, merged, text("r")))).paths ==
        std::vector<std::string>{"a.txt"});
}

bool guarded(std::string_view path) {
  return path.starts_with("guard/") || path == "nightshift.yaml";
}

TEST_CASE_METHOD(MergeFixture, "protected paths come from base: changed, added and deleted ones") {
  base = advance({{"guard/a", "a"}, {"guard/b", "b"}, {"nightshift.yaml", "n"}});
  const CommitId ours = candidate({{"guard/a", "cheat"},
                                   {"guard/b", std::nullopt},
                                   {"guard/new", "cheat"},
                                   {"a.txt", "honest\n"}},
                                  "night/c");
  const CommitId laid = must(mirror.overlay_protected(ours, base, guarded, text("o"), "night/o"));
  CHECK(must(mirror.changed_paths(base, laid)) == std::vector<std::string>{"a.txt"});
  CHECK(must(mirror.file_at(laid, "a.txt")) == "honest\n");
  CHECK(parents(laid) == ours.hex + "\n");
  CHECK(must(mirror.resolve("night/o")) == laid);
  CHECK(must(mirror.overlay_protected(ours, base, guarded, text("o"), "night/o")) == laid);

  const CommitId clean = candidate({{"a.txt", "honest\n"}}, "night/d");
  CHECK(must(mirror.overlay_protected(clean, base, guarded, text("o"), "night/p")) == clean);
}

TEST_CASE_METHOD(MergeFixture, "a protected folder cannot be led elsewhere by a link or a file") {
  base = advance({{"guard/a", "a"}, {"nightshift.yaml", "n"}});
  git(target, "checkout -q -b try/trick");
  fs::remove_all(target / "guard");
  fs::create_directory_symlink("src", target / "guard");
  fs::remove(target / "nightshift.yaml");
  const CommitId trick = commit(target, {{"nightshift.yaml/inner", "x"}}, "trick");
  must(mirror.fetch());
  const CommitId laid = must(mirror.overlay_protected(trick, base, guarded, text("o"), "night/o"));
  CHECK(must(mirror.changed_paths(base, laid)) == std::vector<std::string>{});
}

}  // namespace
}  // namespace store::git
