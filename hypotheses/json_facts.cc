#include <array>
#include <utility>

#include "hypotheses/json.h"
#include "hypotheses/json_fact_fields.h"

namespace hypotheses {

namespace {

constexpr std::size_t kFacts = std::variant_size_v<Fact>;

// In the order of Fact's alternatives.
constexpr std::array<std::string_view, kFacts> kFactKinds = {"campaign-created",
                                                             "campaign-changed",
                                                             "night-due",
                                                             "night-started",
                                                             "night-ended",
                                                             "incumbent-chosen",
                                                             "proposal-refused",
                                                             "hypothesis-opened",
                                                             "hypothesis-moved",
                                                             "hypothesis-taken",
                                                             "candidate-made",
                                                             "question-answered",
                                                             "hypothesis-decided",
                                                             "experiment-started",
                                                             "run-recorded",
                                                             "experiment-finished",
                                                             "experiment-cancelled",
                                                             "noise-measured",
                                                             "timeline-read",
                                                             "merge-opened",
                                                             "merge-changed",
                                                             "merge-answered",
                                                             "merge-approved",
                                                             "planner-spoke",
                                                             "target-fetched",
                                                             "noted"};

template <std::size_t I>
base::Result<Fact> decode_fact(const nlohmann::json& payload) {
  NS_ASSIGN(fact, (decode_json<std::variant_alternative_t<I, Fact>>(payload, kFactKinds[I])));
  return Fact(std::move(fact));
}

using FactDecoder = base::Result<Fact> (*)(const nlohmann::json&);

template <std::size_t... I>
constexpr std::array<FactDecoder, kFacts> fact_decoders(std::index_sequence<I...>) {
  return {decode_fact<I>...};
}

}  // namespace

std::string_view kind_of(const Fact& fact) { return kFactKinds[fact.index()]; }

nlohmann::json to_json(const Fact& fact) {
  return std::visit([](const auto& alternative) { return JsonWriter::encode(alternative); }, fact);
}

base::Result<Fact> fact_from_json(std::string_view kind, const nlohmann::json& payload) {
  static constexpr auto kDecoders = fact_decoders(std::make_index_sequence<kFacts>());
  for (std::size_t i = 0; i < kFacts; ++i)
    if (kFactKinds[i] == kind) return kDecoders[i](payload);
  return base::fail(base::ErrorCode::corrupt, "unknown kind of fact '" + std::string(kind) + "'");
}

}  // namespace hypotheses
