// Strong ids of the glossary's things.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/id.h"

namespace hypotheses {

struct CampaignTag {
  static constexpr std::string_view prefix = "C";
};
struct NightTag {
  static constexpr std::string_view prefix = "N";
};
struct HypothesisTag {
  static constexpr std::string_view prefix = "H";
};
struct ExperimentTag {
  static constexpr std::string_view prefix = "E";
};
struct RunTag {
  static constexpr std::string_view prefix = "R";
};
struct MergeRequestTag {
  static constexpr std::string_view prefix = "M";
};
struct EffectTag {
  static constexpr std::string_view prefix = "X";
};

using CampaignId = base::Id<CampaignTag>;
using NightId = base::Id<NightTag>;
using HypothesisId = base::Id<HypothesisTag>;
using ExperimentId = base::Id<ExperimentTag>;
using RunId = base::Id<RunTag>;
using MergeRequestId = base::Id<MergeRequestTag>;
using EffectId = base::Id<EffectTag>;

// A full hexadecimal object name of a commit; empty means "none".
struct CommitId {
  std::string hex;
  auto operator<=>(const CommitId&) const = default;
  explicit operator bool() const { return !hex.empty(); }
  std::string brief() const { return hex.substr(0, 10); }
};

}  // namespace hypotheses
