#include "orchestrator/effects.h"

#include <catch2/catch.hpp>

namespace orchestrator {
namespace {

using hypotheses::Side;

std::vector<EffectKind> all_kinds() {
  return {OpenNight{{1}},
          MakeCandidate{{2}},
          RunAttempt{{3}, 4, {Side::candidate, Side::base}},
          StopExperiment{{5}},
          PrepareMerge{{6}},
          LandMerge{{7}},
          AskPlanner{{8}, 9, 1'000'000'000'000},
          FetchTarget{{10}}};
}

}  // namespace

TEST_CASE("every kind of effect comes back from the outbox as it went in") {
  REQUIRE(all_kinds().size() == std::variant_size_v<EffectKind>);
  std::int64_t id = 40;
  for (const EffectKind& kind : all_kinds()) {
    store::PendingEffect stored = to_pending({{++id}, kind});
    CAPTURE(stored.kind, stored.payload);
    auto back = from_pending(stored);
    REQUIRE(back);
    CHECK(back->id.value == id);
    CHECK(back->kind.index() == kind.index());
    store::PendingEffect again = to_pending(*back);
    CHECK(again.kind == stored.kind);
    CHECK(again.payload == stored.payload);
  }
}

TEST_CASE("the fields of an effect are those that went in, not their defaults") {
  auto attempt = from_pending(to_pending({{1}, all_kinds()[2]}));
  REQUIRE(attempt);
  const auto& run = std::get<RunAttempt>(attempt->kind);
  CHECK(run.experiment.value == 3);
  CHECK(run.attempt == 4);
  CHECK(run.sides == std::vector{Side::candidate, Side::base});
  auto asked = from_pending(to_pending({{1}, all_kinds()[6]}));
  REQUIRE(asked);
  const auto& ask = std::get<AskPlanner>(asked->kind);
  CHECK(ask.night.value == 8);
  CHECK(ask.turn == 9);
  CHECK(ask.reserved_tokens == 1'000'000'000'000);
}

TEST_CASE("an outbox that cannot be read is corrupt, and the effect is named") {
  struct Row {
    const char* kind;
    const char* payload;
  };
  const Row rows[] = {{"open-night", "{"},
                      {"open-night", "{}"},
                      {"open-night", "[]"},
                      {"open-night", R"({"campaign": "C-1"})"},
                      {"make-coffee", R"({"campaign": 1})"},
                      {"run-attempt", R"({"experiment": 1, "attempt": 0})"},
                      {"run-attempt", R"({"experiment": 1, "attempt": 0, "sides": ["left"]})"},
                      {"ask-planner", R"({"night": 1, "turn": 2})"}};
  for (const Row& row : rows) {
    CAPTURE(row.kind, row.payload);
    auto effect = from_pending({{12}, row.kind, row.payload});
    REQUIRE_FALSE(effect);
    CHECK(effect.error().code == base::ErrorCode::corrupt);
    CHECK(effect.error().text().find("X-12") != std::string::npos);
    CHECK(effect.error().text().find(row.kind) != std::string::npos);
  }
}

}  // namespace orchestrator
