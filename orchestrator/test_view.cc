#include "orchestrator/test_view.h"

#include <catch2/catch.hpp>

#include "orchestrator/simulator/toy_world.h"

namespace orchestrator {

PlannerView toy_view() {
  auto manifest = hypotheses::read_manifest(toy_world(1, false).manifest, "nightshift.yaml");
  if (!manifest) FAIL(manifest.error().text());
  PlannerView view;
  view.night = {1};
  view.manifest = *manifest;
  view.goal = {"toy.time", {{"batch", "1"}}};
  view.settings = view.base_settings = {{"toy.tile", "32"}, {"toy.variant", "0"}};
  view.turn = 1;
  view.remaining_s = 1000;
  return view;
}

PastClaim toy_past(const PlannerView& view, std::int64_t id,
                   std::vector<hypotheses::KnobSetting> knobs, hypotheses::Verdict verdict,
                   double effect) {
  PastClaim past;
  past.id = {id};
  past.night = view.night;
  past.parent = view.incumbent;
  past.claim = "a claim";
  past.settings = view.settings;
  for (const auto& knob : knobs) past.settings[knob.knob] = knob.value;
  past.change.knobs = std::move(knobs);
  past.prediction = {view.goal, -0.1};
  past.verdict = verdict;
  past.reason = "measured";
  past.effect = effect;
  return past;
}

}  // namespace orchestrator
