#include "runners/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/files.h"
#include "base/os_error.h"
#include "runners/capture.h"

namespace runners {
namespace fs = std::filesystem;
namespace {

constexpr double kProbeTimeout_s = 10;

// Of /etc only what programs need to start, to name users and to tell the time.
constexpr const char* kEtc[] = {"ld.so.cache", "ld.so.conf", "ld.so.conf.d",  "alternatives",
                                "passwd",      "group",      "nsswitch.conf", "hosts",
                                "localtime",   "timezone",   "os-release",    "debian_version"};

// The number of processors and caches: programs size their thread pools and tiles by it.
constexpr const char* kSys[] = {"/sys/devices/system/cpu", "/sys/devices/system/node"};

bool is_device(const fs::path& path) { return path.string().starts_with("/dev/"); }

struct Bind {
  fs::path path;
  bool writable = false;
};

// Outer folders first, since a later bind hides what lies below it; of equal paths the writable
// wins.
std::vector<Bind> ordered_binds(const SandboxPlan& plan) {
  std::vector<Bind> binds;
  for (const auto& path : plan.readable) binds.push_back({path.lexically_normal(), false});
  for (const auto& path : plan.writable) binds.push_back({path.lexically_normal(), true});
  auto depth = [](const Bind& bind) { return std::distance(bind.path.begin(), bind.path.end()); };
  std::stable_sort(binds.begin(), binds.end(),
                   [&](const Bind& a, const Bind& b) { return depth(a) < depth(b); });
  return binds;
}

void add(std::vector<std::string>& options, std::initializer_list<std::string> more) {
  options.insert(options.end(), more);
}

// /usr, and the top-level names that are links into it or, on older systems, folders of their own.
void add_system(std::vector<std::string>& options) {
  add(options, {"--ro-bind", "/usr", "/usr"});
  for (std::string name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code error;
    if (fs::is_symlink(name, error)) {
      add(options, {"--symlink", fs::read_symlink(name, error).string(), name});
    } else if (fs::is_directory(name, error)) {
      add(options, {"--ro-bind", name, name});
    }
  }
  for (const char* name : kEtc) {
    std::string path = std::string("/etc/") + name;
    add(options, {"--ro-bind-try", path, path});
  }
  for (const char* path : kSys) add(options, {"--ro-bind-try", path, path});
}

// Nothing when `true` ran in the sandbox, else bubblewrap's message.
base::Result<std::string> try_sandbox(const std::string& bwrap, Launcher& launcher) {
  SandboxPlan plan;
  plan.folder = "/";
  plan.memory_files_bytes = 1 << 20;
  NS_ASSIGN(options, options_file(sandbox_options(plan)));
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return base::os_fail(errno, "make a pipe", "");
  base::Fd out(fds[0]), in(fds[1]);
  base::Command command;
  command.argv = {bwrap, "--args", std::to_string(options.get()), "--", "true"};
  command.env = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  command.err = in.get();
  command.keep = {options.get()};
  NS_ASSIGN(tree, launcher.start(command));
  in.close();
  auto ended = tree.wait(kProbeTimeout_s);
  tree.end_all();
  if (!ended) return std::string("it did not start within 10 s");
  std::string message = read_to_end(out.get());
  while (message.ends_with('\n')) message.pop_back();
  if (!ended->signalled && ended->value == 0) return std::string();
  return message.empty() ? fmt::format("it ended with {}", ended->value) : message;
}

}  // namespace

SandboxPlan plan_sandbox(const Job& job, const Launch& launch, const Environment& env,
                         const std::vector<fs::path>& devices) {
  SandboxPlan plan;
  plan.folder = launch.tree;
  plan.env = env;
  plan.memory_files_bytes = launch.limits.memory_bytes;
  auto& places = job.purpose == Purpose::build ? plan.writable : plan.readable;
  places.push_back(launch.tree);
  if (!launch.build.empty()) places.push_back(launch.build);
  plan.readable.insert(plan.readable.end(), launch.readable.begin(), launch.readable.end());
  plan.writable.insert(plan.writable.end(), launch.writable.begin(), launch.writable.end());
  plan.writable.push_back(scratch_folder(job, launch));
  if (job.gpus > 0) plan.writable.insert(plan.writable.end(), devices.begin(), devices.end());
  return plan;
}

std::vector<std::string> sandbox_options(const SandboxPlan& plan) {
  std::vector<std::string> options = {
      "--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-net",
      "--unshare-ipc",     "--unshare-uts", "--clearenv",     "--cap-drop",    "ALL"};
  add_system(options);
  std::string size = std::to_string(std::max<std::int64_t>(plan.memory_files_bytes, 1 << 20));
  // The kernel lets uid 0 write its settings without any capability, and as root we are that uid.
  add(options, {"--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"});
  add(options, {"--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp"});
  for (const auto& [path, writable] : ordered_binds(plan)) {
    const char* option = is_device(path) ? "--dev-bind" : writable ? "--bind" : "--ro-bind";
    add(options, {option, path, path});
  }
  for (const auto& [name, value] : plan.env) add(options, {"--setenv", name, value});
  add(options, {"--chdir", plan.folder});
  return options;
}

base::Result<base::Fd> options_file(const std::vector<std::string>& options) {
  base::Fd fd(::memfd_create("sandbox", MFD_CLOEXEC));
  if (!fd) return base::os_fail(errno, "make a file in memory", "");
  std::string bytes;
  for (const auto& option : options) bytes.append(option.c_str(), option.size() + 1);
  if (::pwrite(fd.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return base::os_fail(errno, "write a file in memory", "");
  }
  return fd;
}

SandboxState probe_sandbox(const std::string& name, Launcher& launcher) {
  SandboxState state;
  const char* path = std::getenv("PATH");
  auto program = base::find_program(name, path != nullptr ? path : "/usr/bin:/bin");
  if (!program) {
    state.why = "bubblewrap is not installed: apt-get install bubblewrap";
    return state;
  }
  state.bwrap = *program;
  auto message = try_sandbox(state.bwrap, launcher);
  if (!message) {
    state.why = message.error().text();
  } else if (message->empty()) {
    state.works = true;
  } else {
    state.why = *message + "; " + sandbox_advice(*message);
  }
  return state;
}

std::string sandbox_advice(const std::string& message) {
  auto says = [&](const char* part) { return message.find(part) != std::string::npos; };
  if (says("ount proc") || says("/proc") || says("/newroot")) {
    return "the container that Nightshift runs in forbids mounting: start it with "
           "--security-opt seccomp=unconfined --security-opt systempaths=unconfined";
  }
  if (says("namespace") || says("ermission denied") || says("ot permitted") || says("uid map")) {
    return "user namespaces are forbidden: set sysctl user.max_user_namespaces above 0, "
           "kernel.unprivileged_userns_clone=1 (Debian) and "
           "kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), or, in a container, start it "
           "with --security-opt seccomp=unconfined";
  }
  return "try it by hand: bwrap --unshare-all --ro-bind / / true";
}

}  // namespace runners
