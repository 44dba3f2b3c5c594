// Nights in which the target changes: branches pushed under try/, a repository that goes away.
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process.h"
#include "orchestrator/night/run_night.h"

namespace orchestrator {
namespace {

using hypotheses::MergeState;
using hypotheses::Verdict;

// A clone of the target, as a colleague has it.
struct Colleague {
  explicit Colleague(const ToyNight& night) : clone(night.folder / "clone") {
    git(night.folder.path(), "clone -q " + night.target.bare.string() + " clone");
  }
  // Pushes main with a build that leaves `cost`; the commit.
  std::string push(const std::string& branch, int cost, const std::string& message) const {
    git(clone, "checkout -q -B work origin/main");
    std::ofstream(clone / "build.sh") << "echo cost " << cost << " > \"$1/kernel.out\"\n"
                                      << "echo mode plain >> \"$1/kernel.out\"\n";
    std::ofstream(clone / ".git/message") << message;
    git(clone, "-c user.name=x -c user.email=x@y commit -q -a -F .git/message");
    git(clone, "push -q -f origin HEAD:refs/heads/" + branch);
    std::string hex = git(clone, "rev-parse HEAD");
    hex.pop_back();
    return hex;
  }
  std::filesystem::path clone;
};

int count_claims(const ToyNight& night, const std::string& claim) {
  int count = 0;
  for (const auto& [id, hypothesis] : night.view().hypotheses) count += hypothesis.claim == claim;
  return count;
}

int free_port() {
  const base::Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.sin_port);
}

bool runs(const State& state) { return !state.nights.empty(); }

}  // namespace

TEST_CASE("a branch pushed under try/ while a night runs is a hypothesis and gets its answer") {
  ToyNight night;
  const Colleague colleague(night);
  REQUIRE(night.start());
  REQUIRE(night.create("fetch: 50ms\n"));
  REQUIRE(night.run(runs));
  const std::string claim = "a table instead of the loop";
  const std::string commit = colleague.push(
      "try/table", 40, "Use a table\n\nHypothesis: " + claim + "\nPredicts: toy.cost -50%\n");
  git(colleague.clone, "push -q origin HEAD:refs/heads/try/same");  // the same commit once more
  const std::string odd =
      colleague.push("try/odd", 60, "Odd\n\nHypothesis: something else\nPredicts: a lot\n");
  REQUIRE(night.run_to_end());
  const auto* h = night.hypothesis(claim);
  REQUIRE(h != nullptr);
  CHECK(h->origin == hypotheses::Origin::branch);
  CHECK(h->change.commit.hex == commit);
  CHECK(h->candidate.hex == commit);
  INFO(h->reason);
  CHECK(h->verdict == Verdict::supported);
  CHECK(count_claims(night, claim) == 1);
  CHECK(night.hypothesis("something else") == nullptr);
  const std::string note = night.note("try/odd at " + odd.substr(0, 10));
  CHECK(note.find("expected the trailers `Hypothesis:") != std::string::npos);
  CHECK(note.find("found `Predicts: a lot`") != std::string::npos);

  // Nor is it taken again by a later night of another process.
  night.daemon.reset();
  REQUIRE(night.start());
  REQUIRE(night.daemon->shell().execute(web::StartNight{{1}}));
  REQUIRE(night.run([](const State& s) { return s.nights.size() == 2 && night_over(s); }));
  CHECK(count_claims(night, claim) == 1);

  // What is pushed anew under the name is another commit, and another hypothesis.
  colleague.push("try/table", 30,
                 "Smaller\n\nHypothesis: a smaller table\nPredicts: toy.cost -60%\n");
  REQUIRE(night.daemon->shell().execute(web::StartNight{{1}}));
  REQUIRE(night.run([](const State& s) { return s.nights.size() == 3 && night_over(s); }));
  REQUIRE(night.hypothesis("a smaller table") != nullptr);
  CHECK(night.hypothesis("a smaller table")->verdict.has_value());
}

TEST_CASE("a night whose target goes away says so once and goes on, and ends well if it is back") {
  ToyNight night;
  REQUIRE(night.start());
  REQUIRE(night.create("fetch: 50ms\nmax_hypotheses: 3\n"));
  REQUIRE(night.run(runs));
  const std::filesystem::path away = night.folder / "away.git";
  std::filesystem::rename(night.target.bare, away);
  REQUIRE(night.run([](const State& s) { return !s.campaigns.at({1}).fetch_trouble.empty(); }));
  const std::string note = night.note("the night goes on with what it has");
  CHECK(note.find("expected a git repository") != std::string::npos);
  CHECK(note.find(night.target.bare.string()) != std::string::npos);
  std::size_t decided = 0;
  REQUIRE(night.run([&](const State& s) {  // work goes on
    decided = 0;
    for (const auto& [id, hypothesis] : s.hypotheses) decided += hypothesis.verdict.has_value();
    return decided > 0;
  }));
  std::filesystem::rename(away, night.target.bare);
  REQUIRE(night.run_to_end());
  REQUIRE(night.view().merges.size() == 1);
  CHECK(night.view().merges.begin()->second.state == MergeState::waiting);
}

TEST_CASE("a target on a server is worked on as one on disk, and its merge is pushed") {
  ToyNight night;
  const int port = free_port();
  base::Command command;
  command.argv = {*base::find_program("git", "/usr/local/bin:/usr/bin:/bin"),
                  "daemon",
                  "--reuseaddr",
                  "--listen=127.0.0.1",
                  "--port=" + std::to_string(port),
                  "--export-all",
                  "--enable=receive-pack",
                  "--base-path=" + night.folder.path().string()};
  command.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent"};
  auto server = base::ProcessTree::start(command);
  REQUIRE(server);
  const std::string url = "git://127.0.0.1:" + std::to_string(port) + "/target.git";
  for (int i = 0;
       i < 1000 && git(night.folder.path(), "ls-remote " + url).find("main") == std::string::npos;
       ++i) {
    base::wait_s(0.02);
  }
  REQUIRE(night.start());
  web::CreateCampaign create{toy_campaign(night.target, "max_hypotheses: 3\n"), true};
  create.campaign.target = url;
  REQUIRE(night.daemon->shell().execute(create));
  REQUIRE(night.run_to_end());
  REQUIRE(night.view().merges.size() == 1);
  const hypotheses::MergeRequest merge = night.view().merges.begin()->second;
  INFO(merge.reason);
  REQUIRE(merge.state == MergeState::waiting);
  CHECK(git(night.target.bare, "rev-parse main") == night.target.base.hex + "\n");
  REQUIRE(night.daemon->shell().execute(web::Approve{merge.id, merge.merged, "t"}));
  REQUIRE(
      night.run([&](const State& s) { return s.merges.at(merge.id).state == MergeState::landed; }));
  CHECK(git(night.target.bare, "rev-parse main") == merge.merged.hex + "\n");
  server->end_all();
}

TEST_CASE("a base that is force-pushed during the night is never overwritten") {
  ToyNight night;
  const Colleague colleague(night);
  REQUIRE(night.start());
  REQUIRE(night.create("max_hypotheses: 3\n"));
  REQUIRE(night.run_to_end());
  REQUIRE(night.view().merges.size() == 1);
  const hypotheses::MergeRequest first = night.view().merges.begin()->second;
  REQUIRE(first.state == MergeState::waiting);
  git(colleague.clone, "-c user.name=x -c user.email=x@y commit -q --amend -m rewritten");
  git(colleague.clone, "push -q -f origin HEAD:main");
  const std::string rewritten = git(colleague.clone, "rev-parse HEAD");
  REQUIRE(night.daemon->shell().execute(web::Approve{first.id, first.merged, "t"}));
  REQUIRE(night.run([&](const State& s) {  // nothing lands: it is made anew, or cannot be
    const auto& merge = s.merges.at(first.id);
    return merge.state == MergeState::failed ||
           (merge.state == MergeState::waiting && merge.merged != first.merged);
  }));
  CHECK(git(night.target.bare, "rev-parse main") == rewritten);
  CHECK(night.view().merges.at(first.id).reason.size() > 0);
  CHECK(night.view().hypotheses.at(first.hypothesis).verdict == Verdict::supported);
}

}  // namespace orchestrator
