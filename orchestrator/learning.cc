#include "orchestrator/learning.h"

namespace orchestrator {

void learn_cost(policies::Learned& learned, const hypotheses::Experiment& experiment,
                const hypotheses::Run& run) {
  if (run.outcome != hypotheses::RunOutcome::ok || !(run.wall_s > 0)) return;
  bool is_build = experiment.question == hypotheses::Question::builds || !run.measured;
  if (is_build) {
    (experiment.fresh_build ? learned.build_cold : learned.build_warm).add(run.wall_s);
  } else {
    learned.run[experiment.probe].add(run.wall_s);
  }
}

void learn_noise(NightRecord& night, const hypotheses::Evidence& evidence) {
  constexpr int kFewestPairs = 6;
  const std::string key = to_text(evidence.key);
  if (evidence.pairs < kFewestPairs || !(evidence.noise > 0)) return;
  if (night.learned.noise.contains(key)) return;
  auto [known, is_new] = night.learned.seen_noise.emplace(key, evidence.noise);
  if (!is_new) known->second = (known->second + evidence.noise) / 2;
}

}  // namespace orchestrator
