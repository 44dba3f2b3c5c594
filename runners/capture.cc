#include "runners/capture.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/os_error.h"

namespace runners {

base::Result<Capture> Capture::open(const std::filesystem::path& file, std::int64_t limit_bytes) {
  Capture capture;
  capture.path_ = file;
  capture.left_ = limit_bytes;
  capture.file_ =
      base::Fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!capture.file_) return base::os_fail(errno, "create the output file", file);
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return base::os_fail(errno, "make a pipe", file);
  capture.read_ = base::Fd(fds[0]);
  capture.write_ = base::Fd(fds[1]);
  // Our end only: the program must find an ordinary, blocking pipe.
  ::fcntl(fds[0], F_SETFL, O_NONBLOCK);
  return capture;
}

void Capture::drain() {
  char chunk[1 << 16];
  while (read_) {
    ssize_t n = ::read(read_.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      read_.close();
      return;
    }
    keep(chunk, static_cast<std::size_t>(n));
    // An endless writer would keep us here; poll() brings us back after time and stop were looked
    // at.
    if (cut_) return;
  }
}

void Capture::keep(const char* bytes, std::size_t count) {
  if (static_cast<std::int64_t>(count) > left_) {
    count = static_cast<std::size_t>(left_);
    cut_ = true;
  }
  left_ -= static_cast<std::int64_t>(count);
  while (count > 0 && !error_) {
    ssize_t n = ::write(file_.get(), bytes, count);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      error_ = base::os_error(errno, "write what the program printed", path_);
      return;
    }
    bytes += n;
    count -= static_cast<std::size_t>(n);
  }
}

std::string read_to_end(int fd) {
  std::string text;
  char chunk[4096];
  for (ssize_t n; (n = ::read(fd, chunk, sizeof chunk)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    text.append(chunk, static_cast<std::size_t>(n));
  }
  return text;
}

DiskWatch::DiskWatch(const std::vector<std::filesystem::path>& folders, std::int64_t limit_bytes)
    : limit_bytes_(static_cast<std::uintmax_t>(std::max<std::int64_t>(0, limit_bytes))) {
  for (const auto& folder : folders) {
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    if (!error) disks_.push_back({folder, space.available});
  }
}

bool DiskWatch::over() const {
  return std::any_of(disks_.begin(), disks_.end(), [&](const Disk& disk) {
    std::error_code error;
    const auto space = std::filesystem::space(disk.folder, error);
    return !error && space.available + limit_bytes_ < disk.free_bytes;
  });
}

WatchEnd watch(base::ProcessTree& tree, Capture& out, Capture& err, double timeout_s,
               const DiskWatch& disks, std::stop_token stop) {
  constexpr double kDiskEvery_ms = 250;
  using Clock = std::chrono::steady_clock;
  base::Fd stopped(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  std::stop_callback wake(stop, [&] { ::eventfd_write(stopped.get(), 1); });
  auto deadline = Clock::now() + std::chrono::duration<double>(std::clamp(timeout_s, 0.0, 1e8));
  for (;;) {
    // Without an eventfd (no descriptors left) a stop is noticed at the next look at the disks.
    std::chrono::duration<double, std::milli> left = deadline - Clock::now();
    int wait_ms = static_cast<int>(std::clamp(left.count() + 1, 0.0, kDiskEvery_ms));
    // poll() skips a negative descriptor: a stream that ended.
    pollfd entries[] = {{tree.ended_fd(), POLLIN, 0},
                        {stopped.get(), POLLIN, 0},
                        {out.read_end(), POLLIN, 0},
                        {err.read_end(), POLLIN, 0}};
    if (::poll(entries, 4, wait_ms) < 0 && errno != EINTR) return WatchEnd::stopped;
    if (stop.stop_requested()) return WatchEnd::stopped;
    if (entries[0].revents != 0) return WatchEnd::ended;
    if (Clock::now() >= deadline) return WatchEnd::timed_out;
    if (disks.over()) return WatchEnd::disk_filled;
    if (entries[2].revents != 0) out.drain();
    if (entries[3].revents != 0) err.drain();
  }
}

}  // namespace runners
