#include "runners/gpu_leases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace runners {
namespace fs = std::filesystem;
namespace {

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

std::vector<fs::path> nvidia_files(const fs::path& dev) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(dev, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with("nvidia")) files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Of "nvidia3" and of no other.
std::optional<int> device_of(const fs::path& file) {
  return number(
      std::string_view(file.filename().native()).substr(std::string_view("nvidia").size()));
}

std::vector<int> listed(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto value = number(text.substr(0, comma));
    if (!value) return {};
    numbers.push_back(*value);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return numbers;
}

}  // namespace

std::vector<int> GpuPool::usable_gpus(const fs::path& dev, const char* visible) {
  const auto allowed = listed(visible == nullptr ? "" : visible);
  std::vector<int> gpus;
  for (const fs::path& file : nvidia_files(dev)) {
    const auto device = device_of(file);
    if (!device) continue;
    const bool seen = std::find(allowed.begin(), allowed.end(), *device) != allowed.end();
    if (visible == nullptr || seen) gpus.push_back(*device);
  }
  std::sort(gpus.begin(), gpus.end());
  return gpus;
}

base::Result<std::optional<CorePool::Lease>> GpuPool::acquire(int gpus, std::stop_token stop) {
  if (gpus <= 0) return std::nullopt;
  if (gpus > pool_.total()) {
    return base::fail(base::ErrorCode::refused,
                      fmt::format("a measurement on {} GPUs cannot run on a machine with {}: lower "
                                  "the probe's resources.gpus, or run it on Slurm",
                                  gpus, pool_.total()));
  }
  NS_ASSIGN(lease, pool_.acquire(Purpose::measure, gpus, stop));
  return std::optional<CorePool::Lease>(std::move(lease));
}

std::vector<fs::path> gpu_files(const fs::path& dev, const std::vector<int>& gpus) {
  std::vector<fs::path> files = nvidia_files(dev);
  std::erase_if(files, [&](const fs::path& file) {
    const auto device = device_of(file);
    return device && std::find(gpus.begin(), gpus.end(), *device) == gpus.end();
  });
  return files;
}

std::map<std::string, std::string> gpu_environment(const std::vector<int>& gpus) {
  return {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
          {"CUDA_VISIBLE_DEVICES", fmt::format("{}", fmt::join(gpus, ","))}};
}

}  // namespace runners
