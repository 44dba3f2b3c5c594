#include "orchestrator/night/run_night.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>

#include "store/reader.h"

namespace orchestrator {

ToyNight::ToyNight() {
  auto made = make_toy_target(folder.path());
  if (!made) {
    std::cerr << made.error().text() << std::endl;
    std::abort();
  }
  target = *made;
}

base::Status ToyNight::start(bool serve) {
  DaemonOptions options;
  options.state = state();
  options.serve = serve;
  options.port = 0;
  options.worker = worker;
  NS_ASSIGN(started, Daemon::start(std::move(options), clock));
  daemon = std::move(started);
  return {};
}

base::Result<web::Reply> ToyNight::create(const std::string& more_policy,
                                          const std::string& planner) {
  web::CreateCampaign command{toy_campaign(target, more_policy), true};
  command.campaign.planner = planner;
  return daemon->shell().execute(command);
}

bool ToyNight::run(const std::function<bool(const State&)>& done, double limit_s) {
  std::stop_source limit;
  std::mutex mutex;
  std::condition_variable_any ended;
  bool finished = false;
  std::jthread watch([&](std::stop_token) {
    std::unique_lock lock(mutex);
    ended.wait_for(lock, std::chrono::duration<double>(limit_s), [&] { return finished; });
    if (!finished) limit.request_stop();
  });
  base::Status status = daemon->run(limit.get_token(), done);
  {
    std::lock_guard lock(mutex);
    finished = true;
  }
  ended.notify_all();
  return status && !limit.stop_requested();
}

bool night_over(const State& state) {
  if (state.campaigns.empty()) return false;
  const auto& record = state.campaigns.begin()->second;
  return !record.nights.empty() && !record.running;
}

bool ToyNight::run_to_end(double limit_s) { return run(night_over, limit_s); }

const hypotheses::Hypothesis* ToyNight::hypothesis(const std::string& claim_part) const {
  for (const auto& [id, hypothesis] : view().hypotheses) {
    if (hypothesis.claim.find(claim_part) != std::string::npos) return &hypothesis;
  }
  return nullptr;
}

std::string ToyNight::note(const std::string& part) const {
  auto reader = store::Reader::open(state());
  if (!reader) return "";
  auto events = reader->events_after(0, 100000);
  std::string found;
  if (!events) return "";
  for (const auto& event : *events) {
    const auto* note = std::get_if<hypotheses::Noted>(&event.fact);
    if (note != nullptr && note->text.find(part) != std::string::npos) found = note->text;
  }
  return found;
}

std::string git(const std::filesystem::path& repository, const std::string& arguments) {
  std::string command =
      "git -c safe.directory='*' -C '" + repository.string() + "' " + arguments + " 2>&1";
  std::string text;
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) text += buffer;
  return text;
}

}  // namespace orchestrator
