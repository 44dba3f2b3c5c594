#include "orchestrator/simulator/toy_world.h"

#include <fmt/format.h>

namespace orchestrator {

using hypotheses::MetricKey;
using hypotheses::RunOutcome;

namespace {

constexpr const char* kToyManifest = R"(version: 1
name: toy
base: main
goal: {{metric: toy.time, conditions: {{batch: 1}}}}
protected: [nightshift.yaml, "bench/**"]
build: ["make {{build}}"]
knobs:
  toy.tile: {{file: knobs.yaml, key: tile, when: build, choices: [16, 32, 64], tags: [tiling]}}
  toy.variant: {{file: knobs.yaml, key: variant, when: build, choices: [0, 1, 2], tags: [algorithm]}}
probes:
  toy.check:
    answers: correctness
    layer: kernel
    covers: ["src/**", "knob:toy.*"]
    run: "{{build}}/check --seed {{seed}}"
    format: nightshift
    timeout: 30s
  toy.bench:
    answers: speed
    layer: kernel
    covers: ["src/**", "knob:toy.*"]
    run: "{{build}}/bench {{batch}}"
    conditions: {{batch: [1, 8]}}
    format: nightshift
    timeout: 30s
    metrics:
      toy.time: {{better: lower, unit: ns, exact: {}}}
)";

double toy_value(const FakeTree& tree, const MetricKey& key) {
  double value = key.conditions.at("batch") == "8" ? 700 : 100;
  const std::string& tile = tree.knobs.at("toy.tile");
  const std::string& variant = tree.knobs.at("toy.variant");
  if (tile == "16") value *= 1.3;
  if (tile == "64") value *= 0.8;
  if (variant == "1") value *= 0.7;
  if (variant == "2") value *= 0.3;
  auto source = tree.files.find("src/toy.cc");
  if (source != tree.files.end() && source->second.find("fast") != std::string::npos) value *= 0.6;
  return value;
}

RunOutcome toy_check(const FakeTree& tree) {
  return tree.knobs.at("toy.variant") == "2" ? RunOutcome::failed_check : RunOutcome::ok;
}

}  // namespace

FakeWorld toy_world(std::uint64_t seed, bool exact) {
  FakeWorld world;
  world.manifest = fmt::format(kToyManifest, exact);
  world.first.knobs = {{"toy.tile", "32"}, {"toy.variant", "0"}};
  world.first.files = {{"src/toy.cc", "int toy() { return 1; }\n"}, {"bench/toy.cc", "timer\n"}};
  world.value = toy_value;
  world.check = toy_check;
  world.noise = exact ? 0 : 0.01;
  world.seed = seed;
  return world;
}

FakeWorld tile_world(std::uint64_t seed, bool exact) {
  FakeWorld world = toy_world(seed, exact);
  std::size_t begin = world.manifest.find("  toy.variant:");
  world.manifest.erase(begin, world.manifest.find('\n', begin) + 1 - begin);
  return world;
}

}  // namespace orchestrator
