// The runners' contract, held by the local runner with and without a sandbox and by the fake.
#include <functional>

#include "runners/fake_runner.h"
#include "runners/local_runner.h"
#include "runners/test_jobs.h"

namespace runners {
namespace {

using testing::Act;
using testing::Workshop;

class LocalSubject : public testing::ScriptSubject {
 public:
  explicit LocalSubject(SandboxRule rule) : runner_({rule, nullptr, "bwrap"}, clock_) {}
  Runner& runner() { return runner_; }

 private:
  base::SystemClock clock_;
  LocalRunner runner_;
};

struct Sandboxed : LocalSubject {
  Sandboxed() : LocalSubject(SandboxRule::required) {}
};
struct Unsandboxed : LocalSubject {
  Unsandboxed() : LocalSubject(SandboxRule::none) {}
};

class Faked {
 public:
  Faked() : runner_([this](const Job&, const Launch& launch) { return play(launch); }, clock_) {}

  Runner& runner() { return runner_; }
  const Workshop& workshop() const { return workshop_; }

  Launch launch(const std::string& name, const Act& act) {
    acts_[name] = act;
    return workshop_.script(name, "played");
  }

  std::vector<std::string> launched() const { return names_; }

  std::jthread stop_after(std::size_t count, std::stop_source& source) {
    on_launch_ = [this, count, &source] {
      if (names_.size() >= count) source.request_stop();
    };
    return {};
  }

 private:
  FakeLaunch play(const Launch& launch) {
    const Act& act = acts_.at(launch.name);
    FakeLaunch done;
    if (act.missing) {
      done.ending = Ending::not_started;
      done.detail = "no such program: no-such-program";
      return done;
    }
    names_.push_back(launch.name);
    if (on_launch_) on_launch_();
    done.out = act.endless ? std::string(1 << 20, 'y') : act.out;
    done.err = act.err;
    done.exit_code = act.exit_code;
    if (act.signal != 0) done.ending = Ending::signalled;
    done.signal = act.signal;
    done.wall_s = act.for_ever || act.endless ? 1e9 : 0.01;
    return done;
  }

  base::ManualClock clock_{{0}};
  Workshop workshop_;
  std::map<std::string, Act> acts_;
  std::vector<std::string> names_;
  std::function<void()> on_launch_;
  FakeRunner runner_;
};

}  // namespace
}  // namespace runners

#define RUNNER_SUBJECTS Sandboxed, Unsandboxed, Faked
#include "runners/runner_contract.h"
