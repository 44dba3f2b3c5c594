#include "runners/gpu_leases.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "base/clock.h"
#include "base/files.h"

namespace runners {
namespace {

namespace fs = std::filesystem;

// A machine with three GPUs, as its /dev tells.
struct Devices {
  base::TempDir folder;
  Devices() {
    for (const char* name : {"nvidia0", "nvidia1", "nvidia12", "nvidiactl", "nvidia-uvm", "null"}) {
      REQUIRE(base::write_file_atomically(folder.path() / name, ""));
    }
  }
};

std::vector<std::string> names(const std::vector<fs::path>& files) {
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(file.filename());
  return names;
}

}  // namespace

TEST_CASE("the GPUs of a machine are its numbered device files that the daemon may use") {
  Devices dev;
  const auto usable = [&](const char* visible) {
    return GpuPool::usable_gpus(dev.folder.path(), visible);
  };
  CHECK(usable(nullptr) == std::vector<int>{0, 1, 12});
  CHECK(usable("12,0") == std::vector<int>{0, 12});
  CHECK(usable("7").empty());
  CHECK(usable("").empty());
  CHECK(usable("GPU-8a56").empty());  // no guess which that is
  CHECK(GpuPool::usable_gpus(dev.folder.path() / "none", nullptr).empty());
}

TEST_CASE("a job sees the files of its own GPUs and those that all share") {
  Devices dev;
  CHECK(names(gpu_files(dev.folder.path(), {1})) ==
        std::vector<std::string>{"nvidia-uvm", "nvidia1", "nvidiactl"});
  CHECK(gpu_environment({0, 12}).at("CUDA_VISIBLE_DEVICES") == "0,12");
}

TEST_CASE("a GPU has one holder at a time, and more than the machine has are refused") {
  GpuPool pool({0, 1});
  auto none = pool.acquire(0, {});
  REQUIRE(none);
  CHECK_FALSE(*none);
  auto refused = pool.acquire(3, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("on 3 GPUs cannot run on a machine with 2") !=
        std::string::npos);
  std::optional<CorePool::Lease> both(std::move(**pool.acquire(2, {})));
  CHECK(both->cores() == std::vector<int>{0, 1});
  std::atomic<bool> got{false};
  std::jthread waiter([&] { got = pool.acquire(1, {}).has_value(); });
  base::wait_s(0.02);
  CHECK_FALSE(got);
  both.reset();
  waiter.join();
  CHECK(got);
}

}  // namespace runners
