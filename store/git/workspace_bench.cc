// How fast workspaces are, as numbers: `workspace_bench [--json] [--folder DIR] [files...]`. For
// each size (2,000 and 50,000 files unless told) it generates a repository in which two commits
// differ in few files, and times our switch between them against git's own commands, in turn in one
// run. "fetch_refs_ms" is a fetch that finds nothing new in a target of 5,000 branches.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "store/git/repository.h"
#include "store/git/worktree_pool.h"

namespace {

namespace fs = std::filesystem;
using namespace store::git;

constexpr int kFilesInFolder = 100;
constexpr int kChanged = 5;  // files in which the two commits differ
constexpr int kRounds = 11;
constexpr int kAddRounds = 3;  // of the commands that write every file
constexpr int kBranches = 5000;

void stop(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}
void expect_ok(const base::Status& status) {
  if (!status) stop(status.error().text());
}
template <class T>
T expect_ok(base::Result<T> result) {
  if (!result) stop(result.error().text());
  return std::move(*result);
}

// A git command in `folder`, its standard input a file where one is given.
void git(const fs::path& folder, std::vector<std::string> arguments, const fs::path& input = {}) {
  arguments.insert(arguments.begin(), {"git", "-C", folder.string(), "-c", "gc.auto=0"});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!input.empty()) {
    posix_spawn_file_actions_addopen(&actions, 0, input.c_str(), O_RDONLY, 0);
  }
  pid_t child = 0;
  const int error = posix_spawnp(&child, "git", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 1;
  if (error != 0 || waitpid(child, &status, 0) != child || status != 0) {
    stop(fmt::format("expected git {} to succeed in {}", arguments[5], folder.string()));
  }
}

// What `git fast-import` reads: `first` and `second` on top of it, and `other` beside that.
void write_history(const fs::path& file, int files) {
  std::ofstream out(file);
  const auto path = [](int i) {
    return fmt::format("module{:03}/part{}/file{:06}.cc", i / (10 * kFilesInFolder),
                       i / kFilesInFolder % 10, i);
  };
  const auto put = [&](int i, const std::string& content) {
    out << "M 100644 inline " << path(i) << "\ndata " << content.size() << "\n" << content << "\n";
  };
  const auto commit = [&](const char* branch, const char* from) {
    out << "commit refs/heads/" << branch << "\ncommitter B <b@example.org> 1700000000 +0000\n"
        << "data 2\nc\n"
        << (*from ? fmt::format("from refs/heads/{}\n", from) : "");
  };
  std::string body;
  for (int line = 0; line < 20; ++line) body += fmt::format("int value_{} = {};\n", line, line);
  commit("first", "");
  for (int i = 0; i < files; ++i) put(i, fmt::format("// file {}\n{}", i, body));
  commit("second", "first");
  for (int i = 0; i < kChanged; ++i) put(i * (files / kChanged), "// changed\n" + body);
  commit("other", "first");
  for (int i = 0; i < kChanged; ++i) put(i * (files / kChanged) + 1, "// other\n" + body);
}

void write_branches(const fs::path& file) {
  std::ofstream out(file);
  for (int i = 0; i < kBranches; ++i) {
    out << fmt::format("reset refs/heads/topic/{:02}/b{}\nfrom refs/heads/first\n\n", i % 50, i);
  }
}

double median(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  return ms[ms.size() / 2];
}

class Bench {
 public:
  Bench(const fs::path& folder, int files) : folder_(folder) {
    fs::create_directories(target_);
    git(target_, {"init", "-q", "--bare"});
    write_history(folder_ / "history", files);
    git(target_, {"fast-import", "--quiet"}, folder_ / "history");
    git(target_, {"symbolic-ref", "HEAD", "refs/heads/first"});
    git(folder_, {"clone", "-q", target_.string(), clone_.string()});
  }

  std::vector<std::pair<std::string, double>> run() {
    measure("open", [&] { mirror_.emplace(expect_ok(Mirror::open(folder_ / "mirror", target_))); });
    pool_.emplace(folder_ / "pool", *mirror_);
    first_ = expect_ok(mirror_->base_commit("first"));
    second_ = expect_ok(mirror_->base_commit("second"));
    other_ = expect_ok(mirror_->base_commit("other"));
    measure("create", [&] { acquire(first_); });
    for (int round = 0; round < kRounds; ++round) {
      const CommitId& next = round % 2 ? first_ : second_;
      measure("switch", [&] { acquire(next); });
      measure("git_checkout", [&] { git(clone_, {"checkout", "-q", "--detach", next.hex}); });
      if (round < kAddRounds) {
        const std::string tree = (folder_ / "added").string();
        measure("git_worktree_add", [&] {
          git(clone_, {"worktree", "add", "-q", "-f", "--detach", tree, next.hex});
        });
        git(clone_, {"worktree", "remove", "--force", tree});
      }
    }
    time_commits();
    time_fetches();
    std::vector<std::pair<std::string, double>> medians;
    for (const auto& [name, ms] : times_) medians.emplace_back(name, median(ms));
    return medians;
  }

 private:
  void acquire(const CommitId& commit) { expect_ok(pool_->acquire("bench", commit)); }

  void time_commits() {
    const CommitText text{"merge", "", {}, "B", "b@example.org", {1'700'000'000'000}};
    for (int round = 0; round < kRounds; ++round) {
      measure("merge", [&] { expect_ok(mirror_->merge(second_, other_, text)); });
      measure("changed_paths", [&] { expect_ok(mirror_->changed_paths(second_, other_)); });
      measure("diff_text", [&] { expect_ok(mirror_->diff_text(second_, other_, 1 << 18)); });
    }
  }

  void time_fetches() {
    for (int round = 0; round < kRounds; ++round) {
      measure("fetch", [&] { expect_ok(mirror_->fetch()); });
    }
    write_branches(folder_ / "branches");
    git(target_, {"fast-import", "--quiet"}, folder_ / "branches");
    measure("fetch_new_refs", [&] { expect_ok(mirror_->fetch()); });
    for (int round = 0; round < kRounds; ++round) {
      measure("fetch_refs", [&] { expect_ok(mirror_->fetch()); });
    }
  }

  // Wall time; for what is compared with git also processor time, ours and our children's, which a
  // busy machine changes less.
  template <class Work>
  void measure(const std::string& name, Work work) {
    const double start = clock_.monotonic_s(), cpu_start = cpu_ms();
    work();
    add(name + "_ms", 1e3 * (clock_.monotonic_s() - start));
    if (name == "switch" || name.starts_with("git_")) add(name + "_cpu_ms", cpu_ms() - cpu_start);
  }

  static double cpu_ms() {
    double ms = 0;
    for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage used{};
      getrusage(whose, &used);
      for (const timeval& part : {used.ru_utime, used.ru_stime}) {
        ms += 1e3 * static_cast<double>(part.tv_sec) + 1e-3 * static_cast<double>(part.tv_usec);
      }
    }
    return ms;
  }

  void add(const std::string& name, double ms) {
    const auto known = std::find_if(times_.begin(), times_.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (known != times_.end()) {
      known->second.push_back(ms);
    } else {
      times_.push_back({name, {ms}});
    }
  }

  base::SystemClock clock_;
  fs::path folder_;
  fs::path target_ = folder_ / "target.git", clone_ = folder_ / "clone";
  std::optional<Mirror> mirror_;
  std::optional<WorktreePool> pool_;
  CommitId first_, second_, other_;
  std::vector<std::pair<std::string, std::vector<double>>> times_;  // in the order of first use
};

void print(int files, const std::vector<std::pair<std::string, double>>& medians, bool json) {
  std::string line =
      json ? fmt::format("{{\"files\": {}", files) : fmt::format("{} files\n", files);
  for (const auto& [name, ms] : medians) {
    line += json ? fmt::format(", \"{}\": {:.3f}", name, ms)
                 : fmt::format("  {:<22} {:10.2f}\n", name, ms);
  }
  fmt::print("{}{}", line, json ? "}" : "");
}

}  // namespace

int main(int argc, char** argv) {
  bool json = false;
  fs::path root = fs::temp_directory_path();
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      json = true;
    } else if (word == "--folder" && i + 1 < argc) {
      root = argv[++i];
    } else if (const int files = std::atoi(word.c_str()); files >= 10 * kChanged) {
      sizes.push_back(files);
    } else {
      stop("expected workspace_bench [--json] [--folder DIR] [files...], at least 50 files each");
    }
  }
  if (sizes.empty()) sizes = {2'000, 50'000};
  std::string folder = (root / "workspace-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) stop("cannot make a folder in " + root.string());
  if (json) fmt::print("{{\"sizes\": [");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (json && i > 0) fmt::print(", ");
    print(sizes[i], Bench(folder + "/" + std::to_string(sizes[i]), sizes[i]).run(), json);
  }
  if (json) fmt::print("]}}\n");
  fs::remove_all(folder);
}
