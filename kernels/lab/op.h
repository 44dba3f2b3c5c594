// What an op offers to kernel_lab.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernels {

// Exit codes of kernel_lab: what "could not run" means must never look like a failed check.
inline constexpr int kPassed = 0;
inline constexpr int kFailed = 1;
inline constexpr int kCouldNotRun = 2;

struct LabOptions {
  std::uint64_t seed = 1;
  int batch = 1;  // tokens or slots that advance together
  // Each stands for the knob of the same name in kernels/knobs.yaml where it is not given.
  std::optional<int> variant;
  std::optional<int> v_tile;
  std::optional<int> ring;
  std::vector<std::string> benchmark_flags;  // passed on to Google Benchmark
};

struct Op {
  const char* name;
  std::function<int(const LabOptions&)> check;            // prints JSON lines; an exit code
  std::function<void(const LabOptions&)> register_bench;  // throws std::invalid_argument
};

}  // namespace kernels
