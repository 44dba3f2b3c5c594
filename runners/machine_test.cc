// machine_state and control_group: what is read from the texts of /proc.
#include <catch2/catch.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "runners/control_group.h"
#include "runners/copy_rate.h"
#include "runners/machine_state.h"

namespace runners {
namespace {

TEST_CASE("steal is summed over the cores that were asked for") {
  std::string text =
      "cpu  10 0 10 100 0 0 0 99 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3 4 5 6 7 20 0 0\n"
      "cpu10 1 2 3 4 5 6 7 400 0 0\nintr 5\n";
  CHECK(steal_ticks(text, {0}) == 8);
  CHECK(steal_ticks(text, {0, 1}) == 28);
  CHECK(steal_ticks(text, {3}) == 0);
  CHECK(steal_ticks("cpu0 1 2 3\n", {0}) == 0);
}

TEST_CASE("the clock rate of a core is found by its number") {
  std::string text =
      "processor\t: 0\nmodel name\t: X\ncpu MHz\t\t: 2000.5\n\nprocessor\t: 1\ncpu MHz\t\t: 3000\n";
  CHECK(mhz_of(text, 0) == 2000.5);
  CHECK(mhz_of(text, 1) == 3000);
  CHECK(mhz_of(text, 2) == 0);
}

// No machine of these years copies less than 100 MB/s or more than 100 TB/s.
TEST_CASE("the copy rate of this machine is a rate of memory") {
  base::SystemClock clock;
  const double rate = copy_rate(clock);
  CHECK(rate > 1e8);
  CHECK(rate < 1e14);
}

TEST_CASE("busy time is neither idle nor waiting nor stolen") {
  CHECK(busy_ticks("cpu0 1 2 3 100 200 6 7 400 0 0\n", {0}) == 19);
  CHECK(busy_ticks("cpu1 1 2 3 100 200 6 7 400 0 0\n", {0}) == 0);
}

TEST_CASE("a run is disturbed by what takes a tenth of its cores, or by heat") {
  hypotheses::MachineState calm;
  calm.others_s = 0.19;
  calm.steal_s = 0.19;
  calm.throttled = 0;
  CHECK(disturbance(calm, 1, 2).empty());
  auto shared = calm, stolen = calm, hot = calm;
  shared.others_s = 0.5;
  stolen.steal_s = 0.5;
  hot.throttled = 1;
  CHECK(disturbance(shared, 1, 2) == "other processes took 25% of its cores");
  CHECK(disturbance(stolen, 1, 2) == "other tenants took 25% of its cores");
  CHECK(disturbance(hot, 1, 2) == "its cores were throttled for heat");
  CHECK(disturbance(shared, 0.4, 2).empty());  // too short to tell
  CHECK(disturbance({}, 1, 2).empty());        // nothing is known
}

TEST_CASE("the compiler and its flags are read from what CMake left") {
  base::TempDir folder;
  CHECK(compiler_of(folder.path()).empty());
  auto write = [&](const char* name, const char* text) {
    REQUIRE(base::ensure_folder((folder / name).parent_path()));
    REQUIRE(base::write_file_atomically(folder / name, text));
  };
  write("CMakeCache.txt",
        "CMAKE_BUILD_TYPE:STRING=Release\nCMAKE_CXX_COMPILER:FILEPATH=/usr/bin/c++\n"
        "CMAKE_CXX_FLAGS:STRING=-march=native\nCMAKE_CXX_FLAGS_RELEASE:STRING=-O3 -DNDEBUG\n"
        "CMAKE_CACHE_MAJOR_VERSION:INTERNAL=3\nCMAKE_CACHE_MINOR_VERSION:INTERNAL=25\n"
        "CMAKE_CACHE_PATCH_VERSION:INTERNAL=1\n");
  CHECK(compiler_of(folder.path()) == "c++, Release, -march=native, -O3 -DNDEBUG");
  write("CMakeFiles/3.25.1/CMakeCXXCompiler.cmake", "set(CMAKE_CXX_COMPILER_VERSION \"12.2.0\")\n");
  CHECK(compiler_of(folder.path()) == "c++ 12.2.0, Release, -march=native, -O3 -DNDEBUG");
}

TEST_CASE("the machine is named with its processor and cores") {
  std::string name = machine_name();
  CHECK(name.find(" (") != std::string::npos);
  CHECK((name.ends_with(" cores)") || name.ends_with(" core)")));
  auto state = MachineWatch({0}).finish(0, 0);
  CHECK(state.machine == name);
  CHECK(state.load >= 0);
  CHECK(state.steal_s >= 0);
}

TEST_CASE("our control group is found in a v1, a v2 and a mixed hierarchy") {
  std::string v1_mounts =
      "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 "
      "0\n"
      "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n"
      "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
  std::string v1 = "4:memory:/a/b\n2:cpu,cpuacct:/\n0::/x\n";
  CHECK(group_folder(v1_mounts, v1, "memory") == "/sys/fs/cgroup/memory/a/b");
  CHECK(group_folder(v1_mounts, v1, "cpuacct") == "/sys/fs/cgroup/cpu,cpuacct/");
  CHECK(group_folder(v1_mounts, v1, "") == "/sys/fs/cgroup/unified/x");
  CHECK(group_folder(v1_mounts, v1, "pids").empty());
  CHECK(group_folder("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "0::/user.slice\n", "") ==
        "/sys/fs/cgroup/user.slice");
  CHECK(group_folder("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "0::/user.slice\n", "memory")
            .empty());
}

}  // namespace
}  // namespace runners
