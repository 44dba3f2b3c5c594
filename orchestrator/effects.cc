#include "orchestrator/effects.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

namespace orchestrator {
namespace {

using hypotheses::Side;
using nlohmann::json;

constexpr std::string_view kNames[] = {"open-night",      "make-candidate", "run-attempt",
                                       "stop-experiment", "prepare-merge",  "land-merge",
                                       "ask-planner",     "fetch-target"};
static_assert(std::size(kNames) == std::variant_size_v<EffectKind>);

json payload_of(const OpenNight& e) { return {{"campaign", e.campaign.value}}; }
json payload_of(const MakeCandidate& e) { return {{"hypothesis", e.hypothesis.value}}; }
json payload_of(const StopExperiment& e) { return {{"experiment", e.experiment.value}}; }
json payload_of(const PrepareMerge& e) { return {{"merge", e.merge.value}}; }
json payload_of(const LandMerge& e) { return {{"merge", e.merge.value}}; }
json payload_of(const FetchTarget& e) { return {{"campaign", e.campaign.value}}; }
json payload_of(const AskPlanner& e) {
  return {{"night", e.night.value}, {"turn", e.turn}, {"reserved_tokens", e.reserved_tokens}};
}
json payload_of(const RunAttempt& e) {
  json sides = json::array();
  for (Side side : e.sides) sides.push_back(to_text(side));
  return {{"experiment", e.experiment.value}, {"attempt", e.attempt}, {"sides", sides}};
}

EffectKind run_attempt(const json& p) {
  RunAttempt effect{{p.at("experiment")}, p.at("attempt"), {}};
  for (const json& side : p.at("sides")) {
    auto known = hypotheses::from_text<Side>(side.get<std::string>());
    if (!known) throw std::invalid_argument("unknown side");
    effect.sides.push_back(*known);
  }
  return effect;
}

EffectKind kind_from(std::string_view name, const json& p) {
  if (name == kNames[0]) return OpenNight{{p.at("campaign")}};
  if (name == kNames[1]) return MakeCandidate{{p.at("hypothesis")}};
  if (name == kNames[2]) return run_attempt(p);
  if (name == kNames[3]) return StopExperiment{{p.at("experiment")}};
  if (name == kNames[4]) return PrepareMerge{{p.at("merge")}};
  if (name == kNames[5]) return LandMerge{{p.at("merge")}};
  if (name == kNames[6]) return AskPlanner{{p.at("night")}, p.at("turn"), p.at("reserved_tokens")};
  if (name == kNames[7]) return FetchTarget{{p.at("campaign")}};
  throw std::invalid_argument("unknown effect kind");
}

}  // namespace

store::PendingEffect to_pending(const Effect& effect) {
  json payload = std::visit([](const auto& kind) { return payload_of(kind); }, effect.kind);
  return {effect.id, std::string(kNames[effect.kind.index()]), payload.dump()};
}

base::Result<Effect> from_pending(const store::PendingEffect& pending) {
  try {
    return Effect{pending.id, kind_from(pending.kind, json::parse(pending.payload))};
  } catch (const std::exception& error) {
    return base::fail(base::ErrorCode::corrupt,
                      "the outbox holds an effect that cannot be read: " + pending.kind + " " +
                          pending.payload + " (" + error.what() + ")",
                      pending.id.text());
  }
}

}  // namespace orchestrator
