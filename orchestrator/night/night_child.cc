// A daemon on a toy target for the crash tests: runs the night in its state folder to its end, or
// crashes at a commit. Arguments: STATE TARGET [before|after N]. Exit 0: the night is over.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "orchestrator/daemon.h"
#include "orchestrator/night/toy_target.h"
#include "orchestrator/signals.h"

namespace {

constexpr int kCrashed = 99;

// Ends the process as a crash would, in the middle of the loop, through the store's own hook.
class Crash final : public store::CommitObserver {
 public:
  Crash(std::string when, std::int64_t nth) : when_(std::move(when)), nth_(nth) {}
  base::Status before_commit(std::int64_t nth, const store::Commit&) override {
    if (when_ == "before" && nth == nth_) ::_exit(kCrashed);
    return {};
  }
  void after_commit(std::int64_t nth, const store::Commit&) override {
    if (when_ == "after" && nth == nth_) ::_exit(kCrashed);
  }

 private:
  std::string when_;
  std::int64_t nth_;
};

bool over(const orchestrator::State& state) {
  if (state.campaigns.empty()) return false;
  const auto& record = state.campaigns.begin()->second;
  return !record.nights.empty() && !record.running;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) return 2;
  orchestrator::SignalStop signals;
  Crash crash(argc == 5 ? argv[3] : "", argc == 5 ? std::atoll(argv[4]) : 0);
  base::SystemClock clock;
  orchestrator::DaemonOptions options;
  options.state = argv[1];
  options.serve = false;
  options.observer = &crash;
  auto daemon = orchestrator::Daemon::start(std::move(options), clock);
  if (!daemon) {
    std::cerr << daemon.error().text() << std::endl;
    return 1;
  }
  if ((*daemon)->shell().state().campaigns.empty()) {
    orchestrator::ToyTarget target{"", argv[2], {}};
    web::CreateCampaign create{orchestrator::toy_campaign(target, "max_hypotheses: 3\n"), true};
    if (auto reply = (*daemon)->shell().execute(create); !reply) {
      std::cerr << reply.error().text() << std::endl;
      return 1;
    }
  }
  auto status = (*daemon)->run(signals.token(), over);
  if (!status) std::cerr << status.error().text() << std::endl;
  return status ? 0 : 1;
}
