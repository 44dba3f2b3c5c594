#include "orchestrator/night/toy_target.h"

#include <fmt/format.h>

#include "base/files.h"
#include "store/git/bare_copy.h"

namespace orchestrator {

namespace {

constexpr const char* kManifest = R"(version: 1
name: toy
base: main
goal: {metric: toy.cost}
protected: ["probes/**"]
build:
  - sh build.sh {build}
knobs:
  toy.tile: {file: knobs.yaml, key: toy.tile, when: build, choices: [1, 2, 3]}
  toy.mode: {file: knobs.yaml, key: toy.mode, when: build, choices: [plain, wrong, broken]}
probes:
  toy.check:
    answers: correctness
    layer: kernel
    covers: ["*.sh", "knob:toy.*"]
    run: sh probes/check.sh {build}
    format: nightshift
    timeout: 20s
  toy.count:
    answers: counters
    layer: kernel
    covers: ["*.sh", "knob:toy.*"]
    run: sh probes/count.sh {build}
    build: ["sh probes/prepare.sh {build}"]
    format: nightshift
    timeout: 20s
    metrics:
      toy.cost: {better: lower, unit: steps, exact: true}
)";

constexpr const char* kKnobs = R"(# what the night may change
toy.tile: 1
toy.mode: plain
)";

constexpr const char* kBuild = R"(set -e
tile=$(sed -n 's/^toy.tile: //p' knobs.yaml)
mode=$(sed -n 's/^toy.mode: //p' knobs.yaml)
if [ "$mode" = broken ]; then
  echo "kernel.h:3:7: error: expected a semicolon" >&2
  exit 1
fi
sh kernel.sh "$tile" "$mode" > "$1/kernel.out"
)";

constexpr const char* kKernel = R"(tile=$1
mode=$2
cost=100
if [ "$tile" = 2 ]; then cost=80; fi
if [ "$tile" = 3 ]; then cost=130; fi
if [ "$mode" = wrong ]; then cost=$((cost / 2)); fi
echo "cost $cost"
echo "mode $mode"
)";

constexpr const char* kCheck = R"(if grep -q '^mode plain' "$1/kernel.out"; then
  echo '{"check": "toy", "ok": true}'
else
  echo '{"check": "toy", "ok": false, "first_mismatch": {"row": 7, "got": 2, "want": 1}, "detail": {"drift": 0.5}}'
  exit 1
fi
)";

constexpr const char* kPrepare = R"(cp "$1/kernel.out" "$1/count.in"
)";

constexpr const char* kCount = R"(cost=$(sed -n 's/^cost //p' "$1/count.in")
echo "{\"metric\": \"toy.cost\", \"value\": $cost, \"unit\": \"steps\", \"conditions\": {}}"
)";

}  // namespace

base::Result<ToyTarget> make_toy_target(const std::filesystem::path& folder, double launch_s) {
  const std::string pause = launch_s > 0 ? fmt::format("sleep {}\n", launch_s) : "";
  ToyTarget target{folder / "source", folder / "target.git", {}};
  NS_TRY(base::ensure_folder(target.source / "probes"));
  NS_TRY(base::write_file_atomically(target.source / "nightshift.yaml", kManifest));
  NS_TRY(base::write_file_atomically(target.source / "knobs.yaml", kKnobs));
  NS_TRY(base::write_file_atomically(target.source / "build.sh", pause + kBuild));
  NS_TRY(base::write_file_atomically(target.source / "kernel.sh", kKernel));
  NS_TRY(base::write_file_atomically(target.source / "probes/check.sh", pause + kCheck));
  NS_TRY(base::write_file_atomically(target.source / "probes/prepare.sh", kPrepare));
  NS_TRY(base::write_file_atomically(target.source / "probes/count.sh", pause + kCount));
  NS_ASSIGN(commit, store::git::make_bare_copy(target.source, target.bare, "main",
                                               base::Instant{1'700'000'000'000}));
  target.base = commit;
  return target;
}

hypotheses::Campaign toy_campaign(const ToyTarget& target, const std::string& more_policy) {
  hypotheses::Campaign campaign;
  campaign.name = "toy";
  campaign.target = target.bare.string();
  campaign.base = "main";
  campaign.seed = 7;
  campaign.policy =
      "sandbox: auto\nmerge: {on_kernel_evidence: true}\nbudget: {wall: 300s, machine: "
      "300s, experiments: 500}\n" +
      more_policy;
  return campaign;
}

}  // namespace orchestrator
