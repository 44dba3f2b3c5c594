#include "runners/slurm_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <sstream>

#include "base/os_error.h"
#include "base/process.h"

namespace runners {
using base::ErrorCode;
namespace {

constexpr const char* kSystemPath = "/usr/local/bin:/usr/bin:/bin";
constexpr std::size_t kMostOutput = std::size_t{64} << 20;
// Not SBATCH_... or SQUEUE_...: options that somebody set for his shell would change ours.
constexpr const char* kPassedOn[] = {"PATH", "HOME", "USER", "SLURM_CONF", "SLURM_JWT"};

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Pipe {
  base::Fd read, write;
  static base::Result<Pipe> make() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return base::os_fail(errno, "make a pipe", "");
    return Pipe{base::Fd(fds[0]), base::Fd(fds[1])};
  }
};

// Takes what is there; false at the end of the stream.
bool take(const base::Fd& fd, std::string& text) {
  char buffer[65536];
  ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (text.size() < kMostOutput) text.append(buffer, static_cast<std::size_t>(count));
  return count > 0;
}

// Reads both streams until both ended; false when the time passed or `wake` became readable first.
bool read_both(Pipe& out, Pipe& err, CommandEnd& end, int wake, double timeout_s) {
  using Time = std::chrono::steady_clock;
  const auto until = Time::now() + std::chrono::duration<double>(timeout_s);
  while (out.read || err.read) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Time::now());
    pollfd fds[] = {{out.read ? out.read.get() : -1, POLLIN, 0},
                    {err.read ? err.read.get() : -1, POLLIN, 0},
                    {wake, POLLIN, 0}};
    if (left.count() <= 0) return false;
    if (::poll(fds, 3, static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
    if (fds[2].revents != 0) return false;
    if (fds[0].revents != 0 && !take(out.read, end.out)) out.read.close();
    if (fds[1].revents != 0 && !take(err.read, end.err)) err.read.close();
  }
  return true;
}

}  // namespace

base::Result<CommandEnd> run_command(const std::vector<std::string>& argv, double timeout_s,
                                     std::stop_token stop) {
  std::string path = from_environment("PATH");
  if (path.empty()) path = kSystemPath;
  auto program = base::find_program(argv[0], path);
  if (!program) {
    return base::fail(ErrorCode::not_found,
                      program.error().message +
                          "; Slurm's commands must be installed here too "
                          "(Debian: slurm-client)",
                      argv[0]);
  }
  NS_ASSIGN(out, Pipe::make());
  NS_ASSIGN(err, Pipe::make());
  base::Fd wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake) return base::os_fail(errno, "make an event descriptor", "");
  std::stop_callback on_stop(stop, [&wake] { ::eventfd_write(wake.get(), 1); });
  base::Command command;
  command.argv = argv;
  command.argv[0] = *program;
  command.env = {"LC_ALL=C"};
  for (const char* name : kPassedOn) {
    if (std::string value = from_environment(name); !value.empty()) {
      command.env.push_back(std::string(name) + "=" + value);
    }
  }
  command.out = out.write.get();
  command.err = err.write.get();
  NS_ASSIGN(tree, base::ProcessTree::start(command));
  out.write.close();
  err.write.close();
  CommandEnd end;
  std::optional<base::Ended> ended;
  if (read_both(out, err, end, wake.get(), timeout_s)) ended = tree.wait(timeout_s);
  tree.end_all();
  if (stop.stop_requested()) return base::fail(ErrorCode::unavailable, "stopped", argv[0]);
  if (!ended) {
    return base::fail(ErrorCode::timeout,
                      fmt::format("{} did not answer within {} s; is Slurm's controller up? "
                                  "(scontrol ping)",
                                  argv[0], timeout_s),
                      argv[0]);
  }
  end.exit_code = ended->signalled ? 128 + ended->value : ended->value;
  return end;
}

std::string complaint_of(const CommandEnd& end) {
  std::istringstream lines(end.err.empty() ? end.out : end.err);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    for (std::string_view prefix : {"sbatch: ", "squeue: ", "scancel: ", "sinfo: ", "error: "}) {
      if (line.starts_with(prefix)) line.erase(0, prefix.size());
    }
    if (!line.empty()) text += (text.empty() ? "" : "; ") + line;
  }
  return text.empty() ? fmt::format("exit code {}", end.exit_code) : text;
}

bool wait_unless_stopped(double seconds, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
  return !stop.stop_requested();
}

}  // namespace runners
