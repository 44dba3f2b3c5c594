#include "orchestrator/daemon.h"

#include <signal.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/log.h"
#include "orchestrator/version.h"

namespace orchestrator {

namespace {

constexpr const char* kAddressFile = "daemon.json";
constexpr const char* kTokenFile = "token";

// The secret that writes need; made at the first start, readable by its owner alone.
base::Result<std::string> token_of(const std::filesystem::path& state) {
  std::filesystem::path file = state / kTokenFile;
  if (auto text = base::read_file(file, 4096); text && text->size() >= 32) return *text;
  if (sodium_init() < 0) return base::fail(base::ErrorCode::bug, "libsodium does not start");
  unsigned char bytes[24];
  randombytes_buf(bytes, sizeof bytes);
  char hex[2 * sizeof bytes + 1];
  sodium_bin2hex(hex, sizeof hex, bytes, sizeof bytes);
  mode_t before = ::umask(0077);
  base::Status written = base::write_file_atomically(file, hex);
  ::umask(before);
  NS_TRY(written);
  return std::string(hex);
}

std::optional<std::string> from_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

runners::SandboxRule rule_of(const std::string& word) {
  if (word == "auto") return runners::SandboxRule::automatic;
  if (word == "none") return runners::SandboxRule::none;
  return runners::SandboxRule::required;
}

}  // namespace

Daemon::Daemon(DaemonOptions options, const base::Clock& clock, base::LockFile lock)
    : options_(std::move(options)), clock_(clock), lock_(std::move(lock)) {}

Daemon::~Daemon() {
  if (server_) {
    std::error_code ignored;
    std::filesystem::remove(options_.state / kAddressFile, ignored);
    server_->stop();
  }
  sweeper_.reset();
  if (performer_) performer_->stop();  // no completion may reach a loop that is gone
}

base::Result<std::unique_ptr<Daemon>> Daemon::start(DaemonOptions options,
                                                    const base::Clock& clock) {
  NS_TRY(base::ensure_folder(options.state));
  options.state = std::filesystem::canonical(options.state);
  NS_ASSIGN(lock, base::LockFile::acquire(options.state, clock.now()));
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(options), clock, std::move(lock)));
  NS_TRY(daemon->assemble());
  if (daemon->options_.serve) NS_TRY(daemon->serve());
  return daemon;
}

base::Status Daemon::assemble() {
  NS_ASSIGN(store, store::Store::open(options_.state));
  store.observe(options_.observer);
  std::filesystem::path artifacts = options_.state / "artifacts";
  NS_TRY(base::ensure_folder(artifacts));
  if (int left = runners::reclaim_leftovers(artifacts); left > 0) {
    base::log_warning("ended " + std::to_string(left) + " processes that a killed daemon had left");
  }
  make_runners();
  LocalPerformerOptions performer;
  performer.state = options_.state;
  performer.runner_of = [this](const std::string& rule, Lab::Where where) -> runners::Runner& {
    return runner_of(rule, where);
  };
  performer.environment = from_environment;
  performer_ = std::make_unique<LocalPerformer>(std::move(performer), clock_);
  ShellOptions shell;
  shell.run_nights = options_.run_nights;
  shell.on_commit = [this](std::int64_t seq, const State& state) { committed(seq, state); };
  NS_ASSIGN(opened, Shell::open(std::move(store), clock_, *performer_, std::move(shell)));
  shell_ = std::move(opened);
  if (!options_.run_nights) return {};
  sweeper_ = std::make_unique<Sweeper>(options_.state, clock_,
                                       [this](Remark remark) { shell_->post(std::move(remark)); });
  return {};
}

void Daemon::make_runners() {
  cores_ = std::make_shared<runners::CorePool>(runners::CorePool::usable_cores());
  gpus_ = std::make_shared<runners::GpuPool>(
      runners::GpuPool::usable_gpus("/dev", std::getenv("CUDA_VISIBLE_DEVICES")));
  auto queue = std::make_shared<runners::SlurmQueue>();
  std::error_code ignored;
  std::filesystem::path worker = options_.worker;
  if (worker.empty()) worker = std::filesystem::read_symlink("/proc/self/exe", ignored);
  for (const char* rule : {"required", "auto", "none"}) {
    runners::LocalRunnerOptions local;
    local.sandbox = rule_of(rule);
    local.cores = cores_;
    local.gpus = gpus_;
    runners_[rule] = std::make_unique<runners::LocalRunner>(std::move(local), clock_);
    runners::SlurmRunnerOptions slurm;
    slurm.sandbox = rule_of(rule);
    slurm.worker = worker;
    slurm.queue = queue;
    slurm_runners_[rule] = std::make_unique<runners::SlurmRunner>(std::move(slurm), clock_);
  }
}

runners::Runner& Daemon::runner_of(const std::string& rule, Lab::Where where) {
  const std::string known = runners_.contains(rule) ? rule : "required";
  if (where == Lab::Where::slurm) return *slurm_runners_.at(known);
  return *runners_.at(known);
}

// On the deciding thread, after each commit. When a night ends, files may have become old.
void Daemon::committed(std::int64_t seq, const State& state) {
  if (server_) server_->notify(seq);
  const auto running = static_cast<std::size_t>(
      std::count_if(state.campaigns.begin(), state.campaigns.end(),
                    [](const auto& entry) { return entry.second.running.has_value(); }));
  if (running < running_nights_ && sweeper_) sweeper_->wake();
  running_nights_ = running;
  if (options_.on_commit) options_.on_commit(seq, state);
}

base::Status Daemon::serve() {
  NS_ASSIGN(token, token_of(options_.state));
  web::Options web;
  web.host = options_.host;
  web.port = options_.port;
  web.allow_remote = options_.allow_remote;
  web.state_folder = options_.state;
  web.token = token;
  web.version = kVersion;
  web.stuck = [this] { return shell_->trouble(); };
  web.warning = [this] { return shell_->warning(); };
  web.diff = [this](const hypotheses::CommitId& base, const hypotheses::CommitId& candidate) {
    return performer_->folders().diff(base, candidate);
  };
  NS_ASSIGN(server, web::Server::start(std::move(web), *shell_, clock_));
  server_ = std::move(server);
  nlohmann::json address = {
      {"url", server_->url()}, {"pid", ::getpid()}, {"started", to_text(clock_.now())}};
  return base::write_file_atomically(options_.state / kAddressFile, address.dump());
}

base::Status Daemon::run(std::stop_token stop, const std::function<bool(const State&)>& done) {
  return shell_->run(stop, done);
}

std::optional<DaemonAddress> find_daemon(const std::filesystem::path& state) {
  auto text = base::read_file(state / kAddressFile, 4096);
  if (!text) return {};
  auto address = nlohmann::json::parse(*text, nullptr, false);
  if (!address.is_object() || !address["url"].is_string() || !address["pid"].is_number()) return {};
  DaemonAddress found{address["url"], address["pid"], ""};
  if (::kill(static_cast<pid_t>(found.pid), 0) != 0 && errno == ESRCH) return {};
  found.token = base::read_file(state / kTokenFile, 4096).value_or("");
  return found;
}

std::filesystem::path default_state_folder() {
  if (auto state = from_environment("XDG_STATE_HOME"); state && !state->empty()) {
    return std::filesystem::path(*state) / "nightshift";
  }
  return std::filesystem::path(from_environment("HOME").value_or("/tmp")) /
         ".local/state/nightshift";
}

}  // namespace orchestrator
