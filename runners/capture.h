// Watching a process tree: its output goes into files of bounded size, its time is limited, and a
// stop request ends it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process.h"
#include "base/result.h"

namespace runners {

// One stream: what comes out of the pipe goes into the file up to the bound; the rest is read and
// dropped, so that the program neither blocks nor fills the disk.
class Capture {
 public:
  static base::Result<Capture> open(const std::filesystem::path& file, std::int64_t limit_bytes);

  int write_end() const { return write_.get(); }
  void close_write_end() { write_.close(); }
  int read_end() const { return read_.get(); }
  bool at_end() const { return !read_; }
  bool cut() const { return cut_; }
  const std::optional<base::Error>& error() const { return error_; }  // of writing the file

  void drain();  // takes what is there now, without blocking

 private:
  void keep(const char* bytes, std::size_t count);

  std::filesystem::path path_;
  base::Fd read_, write_, file_;
  std::int64_t left_ = 0;
  bool cut_ = false;
  std::optional<base::Error> error_;
};

// Reads a pipe until all its writers are gone.
std::string read_to_end(int fd);

// How much fuller the disks of some folders get. Others write there too, so it is a fence against a
// program that fills a disk with many files, not an account of what it wrote.
class DiskWatch {
 public:
  DiskWatch(const std::vector<std::filesystem::path>& folders, std::int64_t limit_bytes);
  bool over() const;

 private:
  struct Disk {
    std::filesystem::path folder;
    std::uintmax_t free_bytes;  // at the start
  };
  std::vector<Disk> disks_;
  std::uintmax_t limit_bytes_;
};

enum class WatchEnd { ended, timed_out, stopped, disk_filled };

// Blocks until the root ended, `timeout_s` passed, a disk got too full or `stop` was requested. The
// tree still has to be ended, and the captures drained once more after that.
WatchEnd watch(base::ProcessTree& tree, Capture& out, Capture& err, double timeout_s,
               const DiskWatch& disks, std::stop_token stop);

}  // namespace runners
