#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/os_error.h"
#include "base/process_list.h"

namespace base {
namespace {

// What the guard writes into the notes pipe; smaller than PIPE_BUF, so whole or not at all.
struct Note {
  enum Kind : int { started, root_ended, all_ended } kind;
  pid_t root;
  int wait_status;
  double cpu_s;
  std::int64_t peak_bytes;
};

// Why the program did not start; written by the forked root, closed by a successful exec.
struct StartFailure {
  enum Step : int { fork, group, core, limit, folder, exec } step;
  int error;
};

// Everything below runs between fork and exec, where only async-signal-safe calls are allowed: all
// memory is made ready before the fork.
struct Prepared {
  std::vector<char*> argv, env;
  std::string folder;
  std::vector<std::string> groups;
  std::vector<int> keep;
  std::vector<ResourceLimit> limits;
  cpu_set_t cores;
  bool has_cores = false;
  int out = -1, err = -1, null = -1;
  int failure = -1;  // StartFailure goes here
  int notes = -1;
  pid_t parent = 0;
};

[[noreturn]] void give_up(const Prepared& p, StartFailure::Step step) {
  StartFailure failure{step, errno};
  (void)!::write(p.failure, &failure, sizeof failure);
  ::_exit(127);
}

void default_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void join_groups(const Prepared& p) {
  for (const auto& group : p.groups) {
    int fd = ::open(group.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || ::write(fd, "0", 1) != 1) give_up(p, StartFailure::group);
    ::close(fd);
  }
}

// Both numbers may collide with what dup2 overwrites, so they are moved out of the way first.
void wire_outputs(const Prepared& p) {
  int out = ::fcntl(p.out >= 0 ? p.out : p.null, F_DUPFD_CLOEXEC, 3);
  int err = ::fcntl(p.err >= 0 ? p.err : p.null, F_DUPFD_CLOEXEC, 3);
  ::dup2(p.null, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  ::syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  for (int fd : p.keep) ::fcntl(fd, F_SETFD, 0);
}

[[noreturn]] void become_root(const Prepared& p) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  default_signals();
  join_groups(p);
  if (p.has_cores && ::sched_setaffinity(0, sizeof p.cores, &p.cores) != 0) {
    give_up(p, StartFailure::core);
  }
  if (!p.folder.empty() && ::chdir(p.folder.c_str()) != 0) give_up(p, StartFailure::folder);
  wire_outputs(p);
  for (const auto& limit : p.limits) {
    rlimit value{limit.value, limit.value};
    if (::setrlimit(static_cast<__rlimit_resource_t>(limit.resource), &value) != 0) {
      give_up(p, StartFailure::limit);
    }
  }
  ::execve(p.argv[0], p.argv.data(), p.env.data());
  give_up(p, StartFailure::exec);
}

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + t.tv_usec / 1e6; }

// A child's peak starts at what it shared with us before exec; below that the true peak is unknown.
Note usage_note(Note::Kind kind, std::int64_t own_peak_kb) {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  Note note{};
  note.kind = kind;
  note.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  note.peak_bytes = usage.ru_maxrss > own_peak_kb ? std::int64_t{usage.ru_maxrss} * 1024 : 0;
  return note;
}

std::int64_t own_peak_kb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Keeps descriptors 0 to 3 (3 = the notes) and no other: the daemon's locks and sockets must not
// live on in here.
int close_all_but_notes(const Prepared& p) {
  int notes = ::fcntl(p.notes, F_DUPFD_CLOEXEC, 3);
  ::dup2(p.null, 0);
  ::dup2(p.null, 1);
  ::dup2(p.null, 2);
  ::dup2(notes, 3);
  ::syscall(SYS_close_range, 4U, ~0U, 0U);
  return 3;
}

[[noreturn]] void become_guard(const Prepared& p) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != p.parent) ::_exit(127);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::setsid();  // a Ctrl-C at our terminal is not meant for it
  default_signals();
  std::int64_t peak_kb = own_peak_kb();
  pid_t root = ::fork();
  if (root < 0) give_up(p, StartFailure::fork);
  if (root == 0) become_root(p);
  int notes = close_all_but_notes(p);
  Note started{Note::started, root, 0, 0, 0};
  (void)!::write(notes, &started, sizeof started);
  for (;;) {
    int status = 0;
    pid_t pid = ::waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) break;  // ECHILD: nobody is left
    if (pid == root) {
      Note note = usage_note(Note::root_ended, peak_kb);
      note.wait_status = status;
      (void)!::write(notes, &note, sizeof note);
    }
  }
  Note last = usage_note(Note::all_ended, peak_kb);
  (void)!::write(notes, &last, sizeof last);
  ::_exit(0);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

Prepared prepare(const Command& command) {
  Prepared p;
  p.argv = pointers(command.argv);
  p.env = pointers(command.env);
  p.folder = command.folder.string();
  p.groups = command.groups;
  p.keep = command.keep;
  p.limits = command.limits;
  p.out = command.out;
  p.err = command.err;
  p.parent = ::getpid();
  CPU_ZERO(&p.cores);
  for (int core : command.cores) {
    if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<unsigned>(core), &p.cores);
  }
  p.has_cores = !command.cores.empty();
  return p;
}

struct Pipe {
  Fd read, write;
};

Result<Pipe> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return os_fail(errno, "make a pipe", "");
  // Never 0 to 2: those numbers are overwritten in the child.
  Pipe pipe{Fd(::fcntl(fds[0], F_DUPFD_CLOEXEC, 3)), Fd(::fcntl(fds[1], F_DUPFD_CLOEXEC, 3))};
  ::close(fds[0]);
  ::close(fds[1]);
  if (!pipe.read || !pipe.write) return os_fail(errno, "make a pipe", "");
  return pipe;
}

Error start_error(const StartFailure& failure, const Command& command) {
  switch (failure.step) {
    case StartFailure::fork:
      return os_error(failure.error, "fork", command.argv[0]);
    case StartFailure::group:
      return os_error(failure.error, "join the control group", "");
    case StartFailure::core:
      return os_error(failure.error, "pin to its cores", command.argv[0]);
    case StartFailure::limit:
      return os_error(failure.error, "set its limits", command.argv[0]);
    case StartFailure::folder:
      return os_error(failure.error, "enter the folder", command.folder);
    case StartFailure::exec:
      break;
  }
  return os_error(failure.error, "start the program", command.argv[0]);
}

// Forks with all signals blocked, so that no handler of ours runs in the child.
pid_t fork_guard(const Prepared& p) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t guard = ::fork();
  int error = errno;
  if (guard == 0) become_guard(p);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return guard;
}

bool readable(int fd, int timeout_ms) {
  pollfd entry{fd, POLLIN, 0};
  int n;
  while ((n = ::poll(&entry, 1, timeout_ms)) < 0 && errno == EINTR) {
  }
  return n > 0;
}

// Blocks until exec closed the pipe.
std::optional<StartFailure> read_failure(int fd) {
  StartFailure failure{};
  ssize_t n;
  while ((n = ::read(fd, &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  if (n == static_cast<ssize_t>(sizeof failure)) return failure;
  return {};
}

}  // namespace

Result<ProcessTree> ProcessTree::start(const Command& command) {
  if (command.argv.empty()) return fail(ErrorCode::bug, "a command without a program");
  NS_ASSIGN(failure, make_pipe());
  NS_ASSIGN(notes, make_pipe());
  Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return os_fail(errno, "open", "/dev/null");
  Prepared p = prepare(command);
  p.failure = failure.write.get();
  p.notes = notes.write.get();
  p.null = null.get();
  pid_t guard = fork_guard(p);
  if (guard < 0) return os_fail(errno, "fork", command.argv[0]);
  failure.write.close();
  notes.write.close();
  Fd guard_fd(static_cast<int>(::syscall(SYS_pidfd_open, guard, 0)));
  if (!guard_fd) {
    int error = errno;
    ::kill(guard, SIGKILL);
    ::waitpid(guard, nullptr, 0);
    return os_fail(error, "watch a process (pidfd_open needs Linux 5.3)", command.argv[0]);
  }
  ProcessTree tree(guard, std::move(guard_fd), 0, std::move(notes.read));
  if (auto cause = read_failure(failure.read.get())) {
    return tl::unexpected<Error>(start_error(*cause, command));
  }
  if (!tree.read_note(-1) || tree.root_ == 0) {
    return fail(ErrorCode::unavailable, "the process that guards the program died at its start",
                command.argv[0]);
  }
  return tree;
}

ProcessTree::~ProcessTree() {
  if (guard_fd_) end_all();
}

// False at the timeout or when the guard is gone without a further note.
bool ProcessTree::read_note(int timeout_ms) {
  if (!readable(notes_.get(), timeout_ms)) return false;
  Note note{};
  ssize_t n;
  while ((n = ::read(notes_.get(), &note, sizeof note)) < 0 && errno == EINTR) {
  }
  if (n != static_cast<ssize_t>(sizeof note)) return false;
  if (note.kind == Note::started) root_ = note.root;
  if (note.kind == Note::root_ended) {
    int status = note.wait_status;
    ended_ =
        WIFSIGNALED(status) ? Ended{true, WTERMSIG(status)} : Ended{false, WEXITSTATUS(status)};
  }
  usage_ = {note.cpu_s, note.peak_bytes};
  return true;
}

std::optional<Ended> ProcessTree::wait(double timeout_s) {
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + std::chrono::duration<double>(timeout_s);
  while (!ended_) {
    int left_ms = -1;
    if (timeout_s >= 0) {
      std::chrono::duration<double, std::milli> left = deadline - Clock::now();
      left_ms = left.count() > 0 ? static_cast<int>(std::min(left.count() + 1, 1e9)) : 0;
    }
    if (read_note(left_ms)) continue;
    if (!readable(notes_.get(), 0)) return {};  // the timeout; an end of file is readable
    // The guard itself was killed, by the kernel for want of memory or by hand; its root dies with
    // it.
    ended_ = Ended{true, SIGKILL};
  }
  return ended_;
}

bool ProcessTree::guard_ended(int timeout_ms) const {
  return readable(guard_fd_.get(), timeout_ms);
}

TreeUsage ProcessTree::end_all() {
  if (!guard_fd_) return usage_;
  // The usual case: nothing but the root was there, or a sandbox that falls with its root, and the
  // guard leaves soon by itself.
  int patience_ms = ended_ ? 20 : 0;
  while (!guard_ended(patience_ms)) {
    kill_all([this] { return descendants_of(guard_); });
    patience_ms = std::min(patience_ms + 5, 50);
  }
  while (read_note(0)) {
  }
  while (::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
  }
  guard_fd_.close();
  return usage_;
}

Result<std::string> find_program(const std::string& name, std::string_view path) {
  auto runs = [](const std::string& file) {
    std::error_code error;
    return ::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, error);
  };
  if (name.find('/') != std::string::npos) {
    if (runs(name)) return name;
    return fail(ErrorCode::not_found, fmt::format("no such program: {}", name));
  }
  for (std::string_view rest = path; !rest.empty() && !name.empty();) {
    auto end = std::min(rest.find(':'), rest.size());
    std::string file = std::string(rest.substr(0, end)) + "/" + name;
    if (runs(file)) return file;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fail(ErrorCode::not_found, fmt::format("no such program: {} (looked in {})", name, path));
}

}  // namespace base
