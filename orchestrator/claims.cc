#include "orchestrator/claims.h"

#include <charconv>

#include "base/rng.h"
#include "orchestrator/state.h"

namespace orchestrator {

using hypotheses::Change;
using hypotheses::CommitId;
using hypotheses::Hypothesis;
using hypotheses::HypothesisId;

namespace {

constexpr char kEnd = '\0';  // ends each part of a key; no part holds one
// Of those that did the same only so many are kept: the same change is judged once a metric, and
// that the settings were tried is known from one.
constexpr std::size_t kAlike = 16;

// Claims are kept for ever; what they edit may be long.
std::string brief(const std::string& key) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, base::seed_from(0, key), 36).ptr;
  return std::string(digits, end);
}

std::string change_key(const CommitId& base, HypothesisId parent, const Change& change) {
  std::string key = "change" + base.hex + kEnd + parent.text() + kEnd + change.branch + kEnd;
  for (const auto& knob : change.knobs) key += knob.knob + kEnd + knob.value + kEnd;
  for (const auto& edit : change.edits) {
    key += edit.path + kEnd + edit.search + kEnd + edit.replace + kEnd;
  }
  return brief(key);
}

std::string settings_key(const CommitId& base, bool knobs_only,
                         const std::map<std::string, std::string>& settings) {
  std::string key = (knobs_only ? "knobs" : "settings") + base.hex + kEnd;
  for (const auto& [knob, value] : settings) key += knob + kEnd + value + kEnd;
  return brief(key);
}

}  // namespace

void index_claim(State& state, const Hypothesis& hypothesis) {
  ClaimIndex& index = state.campaigns.at(hypothesis.campaign).claims;
  if (index.opened.empty() || index.opened.back() < hypothesis.id) {
    index.opened.push_back(hypothesis.id);
  }
  CommitId base;
  if (hypothesis.night) base = state.nights.at(hypothesis.night).night.base;
  auto enter = [&](const std::string& key) {
    auto& claims = index.by_work[key];
    bool known = !claims.empty() && claims.back() == hypothesis.id;
    if (!known && claims.size() < kAlike) claims.push_back(hypothesis.id);
  };
  enter(change_key(base, hypothesis.parent, hypothesis.change));
  if (!hypothesis.night) return;
  bool knobs_only = hypothesis.change.knobs_only() && changes_knobs_only(state, hypothesis.parent);
  enter(settings_key(base, knobs_only, settings_of(state, hypothesis)));
}

std::vector<HypothesisId> claims_like(const State& state, const NightRecord& night,
                                      const std::vector<Change>& changes) {
  const ClaimIndex& index = campaign_of(state, night).claims;
  std::vector<HypothesisId> like;
  auto add = [&](const std::string& key) {
    auto found = index.by_work.find(key);
    if (found != index.by_work.end()) {
      like.insert(like.end(), found->second.begin(), found->second.end());
    }
  };
  const auto incumbent = incumbent_settings(state, night);
  for (const Change& change : changes) {
    add(change_key(night.night.base, night.incumbent, change));
    add(change_key({}, {}, change));  // still waiting for its first night
    auto settings = incumbent;
    for (const auto& knob : change.knobs) settings[knob.knob] = knob.value;
    if (settings == incumbent) continue;
    add(settings_key(night.night.base, true, settings));
    add(settings_key(night.night.base, false, settings));
  }
  return like;
}

std::map<std::string, std::string> settings_of(const State& state, const Hypothesis& hypothesis) {
  std::map<std::string, std::string> settings;
  if (hypothesis.parent) {
    settings = settings_of(state, state.hypotheses.at(hypothesis.parent));
  } else if (hypothesis.night) {
    settings = state.nights.at(hypothesis.night).night.settings;
  }
  for (const auto& knob : hypothesis.change.knobs) settings[knob.knob] = knob.value;
  return settings;
}

std::map<std::string, std::string> incumbent_settings(const State& state,
                                                      const NightRecord& night) {
  return night.incumbent ? settings_of(state, state.hypotheses.at(night.incumbent))
                         : night.night.settings;
}

bool changes_knobs_only(const State& state, HypothesisId id) {
  for (; id; id = state.hypotheses.at(id).parent) {
    if (!state.hypotheses.at(id).change.knobs_only()) return false;
  }
  return true;
}

}  // namespace orchestrator
