// resources.slurm of a manifest: what a probe asks of a Slurm cluster.
#include <catch2/catch.hpp>
#include <string>

#include "hypotheses/manifest.h"

namespace hypotheses {
namespace {

std::string manifest(const std::string& resources) {
  return R"(version: 1
name: toy
base: main
goal: {metric: k.time}
probes:
  k.bench:
    answers: speed
    layer: kernel
    covers: ["**"]
    run: bench
    format: nightshift
    metrics: {k.time: {better: lower, unit: ns}}
    timeout: 60s
    resources: )" +
         resources + "\n";
}

ManifestOutcome parse(const std::string& resources) {
  return parse_manifest(manifest(resources), "nightshift.yaml");
}

}  // namespace

TEST_CASE("slurm: all keys are read, and its presence alone means Slurm") {
  auto outcome = parse(
      "{cores: 4, slurm: {partition: fast, constraint: \"icelake&[a*1|b*1]\", gres: gpu:h100:1, "
      "account: perf, qos: night, time: 10m, wait: 2h, exclusive: false}}");
  REQUIRE(outcome.manifest);
  const Resources& full = outcome.manifest->probes.at("k.bench").resources;
  CHECK(full.cores == 4);
  REQUIRE(full.slurm);
  CHECK(full.slurm->partition == "fast");
  CHECK(full.slurm->constraint == "icelake&[a*1|b*1]");
  CHECK(full.slurm->gres == "gpu:h100:1");
  CHECK(full.slurm->account == "perf");
  CHECK(full.slurm->qos == "night");
  CHECK(full.slurm->time_s == 600);
  CHECK(full.slurm->wait_s == 7200);
  CHECK_FALSE(full.slurm->exclusive);

  outcome = parse("{slurm: {}}");
  REQUIRE(outcome.manifest);
  const auto& plain = outcome.manifest->probes.at("k.bench").resources.slurm;
  REQUIRE(plain);
  CHECK(plain->partition.empty());
  CHECK(plain->time_s == 0);
  CHECK(plain->wait_s == 0);
  CHECK(plain->exclusive);

  CHECK_FALSE(parse("{cores: 1}").manifest->probes.at("k.bench").resources.slurm);
}

TEST_CASE("slurm: each mistake is told with its place") {
  struct Row {
    std::string resources, told;
    int column;
  };
  const Row rows[] = {
      {"{slurm: yes}", "expected a map", 24},
      {"{slurm: {nodes: 2}}", "unknown key 'nodes'", 25},
      {"{slurm: {partition: \"a b\"}}", "without spaces; found 'a b'", 36},
      {"{slurm: {partition: \"\"}}", "without spaces; found ''", 36},
      {"{slurm: {time: never}}", "", 31},
      {"{slurm: {time: 119s}}", "at least twice the probe's timeout", 31},
      {"{slurm: {exclusive: perhaps}}", "", 36},
  };
  for (const Row& row : rows) {
    INFO(row.resources);
    auto outcome = parse(row.resources);
    CHECK_FALSE(outcome.manifest);
    REQUIRE(outcome.mistakes.size() == 1);
    INFO(outcome.mistakes[0].text);
    CHECK(outcome.mistakes[0].text.find(row.told) != std::string::npos);
    CHECK(outcome.mistakes[0].line == 14);
    CHECK(outcome.mistakes[0].column == row.column);
  }
}

}  // namespace hypotheses
