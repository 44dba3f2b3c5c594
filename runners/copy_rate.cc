#include "runners/copy_rate.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace runners {
namespace {

constexpr std::size_t kBuffer = std::size_t{128} << 20;  // each; more than any cache of today
constexpr int kPasses = 5;

}  // namespace

double copy_rate(const base::Clock& clock) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t slice = kBuffer / cores;
  std::vector<char> from(slice * cores, 1), to(slice * cores, 2);
  double best_s = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    const double begin = clock.monotonic_s();
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < cores; ++i) {
        threads.emplace_back(
            [&, i] { std::memcpy(to.data() + i * slice, from.data() + i * slice, slice); });
      }
    }
    const double took_s = clock.monotonic_s() - begin;
    if (took_s > 0 && (best_s == 0 || took_s < best_s)) best_s = took_s;
  }
  return best_s > 0 ? 2 * static_cast<double>(slice * cores) / best_s : 0;
}

}  // namespace runners
