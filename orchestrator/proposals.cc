// Checks of what planners and people propose. Whoever proposes, the input is untrusted.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "orchestrator/broken_rule.h"
#include "orchestrator/planner.h"

namespace orchestrator {

using base::ErrorCode;

namespace {

constexpr std::size_t kLongestClaim = 500;
constexpr double kLargestPrediction = 4.7;  // log of about 100x

using Refusal = std::optional<std::string>;

std::string joined(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, ", "));
}

Refusal check_claim(const Proposal& proposal) {
  if (proposal.claim.find_first_not_of(" \t\r\n") == std::string::npos) {
    return "the claim is empty; say in a sentence what changes and what it does";
  }
  if (proposal.claim.size() > kLongestClaim) {
    return fmt::format("the claim has {} bytes; {} is the limit", proposal.claim.size(),
                       kLongestClaim);
  }
  return {};
}

Refusal check_knobs(const Proposal& proposal, const PlannerView& view) {
  bool changes = false;
  std::vector<std::string> seen;
  for (const auto& setting : proposal.change.knobs) {
    auto knob = view.manifest.knobs.find(setting.knob);
    if (knob == view.manifest.knobs.end()) {
      std::vector<std::string> names;
      for (const auto& [name, entry] : view.manifest.knobs) names.push_back(name);
      return fmt::format("the manifest has no knob '{}'; it has: {}", setting.knob, joined(names));
    }
    const auto& choices = knob->second.choices;
    if (std::find(choices.begin(), choices.end(), setting.value) == choices.end()) {
      return fmt::format("{} cannot be '{}'; its choices are: {}", setting.knob, setting.value,
                         joined(choices));
    }
    if (std::find(seen.begin(), seen.end(), setting.knob) != seen.end()) {
      return fmt::format("{} is set twice", setting.knob);
    }
    seen.push_back(setting.knob);
    auto current = view.settings.find(setting.knob);
    changes |= current == view.settings.end() || current->second != setting.value;
  }
  if (!proposal.change.knobs.empty() && proposal.change.edits.empty() && !changes) {
    return "changes nothing: the incumbent has these settings already";
  }
  return {};
}

// Relative and in its one spelling: no empty part, ".", ".." or ".git", however that is written.
bool plain_path(const std::string& path) {
  if (path.find('\0') != std::string::npos) return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    std::size_t end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    std::transform(part.begin(), part.end(), part.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (part.empty() || part == "." || part == ".." || part == ".git") return false;
    begin = end + 1;
  }
  return true;
}

// Paths inside the repository, no more bytes than the policy allows, and each edit changes
// something.
Refusal check_patch(const Proposal& proposal, const policies::Policy& policy) {
  std::size_t bytes = 0;
  for (const auto& edit : proposal.change.edits) {
    if (!plain_path(edit.path)) {
      return fmt::format("'{}' is no path inside the repository", edit.path);
    }
    if (edit.search == edit.replace) return fmt::format("an edit of {} changes nothing", edit.path);
    bytes += edit.search.size() + edit.replace.size();
  }
  if (bytes > policy.planner.patch_bytes) {
    return fmt::format("the patch has {} bytes; {} is the limit", bytes,
                       policy.planner.patch_bytes);
  }
  return {};
}

Refusal check_protected(const Proposal& proposal, const hypotheses::Manifest& manifest) {
  if (broken(Rule::protected_paths_hold)) return {};
  for (const auto& edit : proposal.change.edits) {
    if (!manifest.is_protected(edit.path)) continue;
    return fmt::format(
        "{} is protected: probes and the manifest come from the base, a candidate cannot change "
        "how it is measured",
        edit.path);
  }
  return {};
}

Refusal check_size(const hypotheses::Prediction& prediction) {
  double size = prediction.log_ratio;
  if (std::isfinite(size) && std::abs(size) <= kLargestPrediction) return {};
  return "the predicted size must be a number, at most a hundredfold";
}

Refusal check_prediction(const Proposal& proposal, const PlannerView& view) {
  const auto& prediction = proposal.prediction;
  const hypotheses::Metric* metric = view.manifest.metric(prediction.key.metric);
  if (metric == nullptr) {
    std::vector<std::string> names;
    for (const auto& [name, probe] : view.manifest.probes) {
      for (const auto& [emitted, entry] : probe.metrics) names.push_back(emitted);
    }
    return fmt::format("no probe emits '{}'; the metrics are: {}", prediction.key.metric,
                       joined(names));
  }
  for (const auto& [name, probe] : view.manifest.probes) {
    if (probe.metrics.count(prediction.key.metric) == 0) continue;
    auto known = hypotheses::combinations(probe);
    if (std::find(known.begin(), known.end(), prediction.key.conditions) == known.end()) {
      std::vector<std::string> list;
      for (const auto& conditions : known)
        list.push_back("{" + hypotheses::to_text(conditions) + "}");
      return fmt::format("{} is measured in {}, not in {{{}}}", prediction.key.metric, joined(list),
                         hypotheses::to_text(prediction.key.conditions));
    }
  }
  double size = prediction.log_ratio;
  bool lower = metric->better == hypotheses::Better::lower;
  bool improves = size == 0 ? proposal.change.empty() : (size < 0) == lower;
  if (!improves && !proposal.change.empty()) {
    return fmt::format("predicts that {} gets worse ({}); a change is proposed to improve it",
                       to_text(prediction.key), to_text(prediction));
  }
  return {};
}

bool same_work(const PastClaim& past, const Proposal& proposal, const PlannerView& view) {
  if (!past.same_base) return false;
  bool same_subject = past.prediction.key == proposal.prediction.key;
  if (past.parent == view.incumbent && past.change == proposal.change) return same_subject;
  bool knobs = proposal.change.knobs_only() && view.knobs_only && past.knobs_only &&
               !proposal.change.empty();
  if (!knobs) return false;
  auto settings = view.settings;
  for (const auto& setting : proposal.change.knobs) settings[setting.knob] = setting.value;
  return settings == past.settings && same_subject;
}

Refusal check_news(const Proposal& proposal, const PlannerView& view) {
  for (const PastClaim& past : view.history) {
    if (!same_work(past, proposal, view)) continue;
    if (!past.verdict) return fmt::format("{} claims the same and is still open", past.id.text());
    return fmt::format("{} made the same change; verdict {}: {}", past.id.text(),
                       to_text(*past.verdict), past.reason);
  }
  return {};
}

// --- edits ---

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string trimmed(const std::string& line) {
  std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

// Share of characters of `wanted` that `line` has in the same order from either end.
double likeness(const std::string& wanted, const std::string& line) {
  std::size_t limit = std::min(wanted.size(), line.size()), front = 0, back = 0;
  while (front < limit && wanted[front] == line[front]) ++front;
  while (back < limit - front && wanted[wanted.size() - 1 - back] == line[line.size() - 1 - back]) {
    ++back;
  }
  return static_cast<double>(front + back) /
         static_cast<double>(std::max(wanted.size(), line.size()));
}

std::string nearest_line(const std::string& text, const std::string& search) {
  std::string wanted;
  for (const std::string& line : lines_of(search)) {
    wanted = trimmed(line);
    if (!wanted.empty()) break;
  }
  if (wanted.empty()) return {};
  std::string best;
  double best_likeness = 0.3;
  int number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    double here = likeness(wanted, trimmed(line));
    if (here > best_likeness) {
      best_likeness = here;
      best = fmt::format("; the nearest is line {}: {}", number, trimmed(line));
    }
  }
  return best;
}

std::size_t count_of(const std::string& text, const std::string& search) {
  std::size_t count = 0;
  for (std::size_t at = text.find(search); at != std::string::npos;
       at = text.find(search, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

Refusal malformed(const Proposal& proposal, const policies::Policy& policy) {
  if (auto why = check_claim(proposal)) return why;
  if (auto why = check_patch(proposal, policy)) return why;
  return check_size(proposal.prediction);
}

Refusal refusal(const Proposal& proposal, const PlannerView& view, const policies::Policy& policy) {
  if (auto why = malformed(proposal, policy)) return why;
  if (auto why = check_knobs(proposal, view)) return why;
  if (auto why = check_protected(proposal, view.manifest)) return why;
  if (auto why = check_prediction(proposal, view)) return why;
  return check_news(proposal, view);
}

base::Result<std::string> apply_edits(const std::string& path, const std::string& text,
                                      const std::vector<hypotheses::Edit>& edits) {
  std::string result = text;
  int number = 0;
  for (const auto& edit : edits) {
    ++number;
    std::string where = fmt::format("{}, edit {}", path, number);
    if (edit.search.empty()) {
      if (!result.empty()) {
        return base::fail(ErrorCode::bad_input,
                          "the search text is empty, which only a new file may have; nothing was "
                          "changed",
                          where);
      }
      result = edit.replace;
      continue;
    }
    std::size_t count = count_of(result, edit.search);
    if (count != 1) {
      std::string found = count == 0 ? "was not found" : fmt::format("occurs {} times", count);
      return base::fail(ErrorCode::bad_input,
                        fmt::format("the search text {} (it must occur exactly once); nothing was "
                                    "changed. It begins: {}{}",
                                    found, edit.search.substr(0, 80),
                                    count == 0 ? nearest_line(result, edit.search) : ""),
                        where);
    }
    result.replace(result.find(edit.search), edit.search.size(), edit.replace);
  }
  return result;
}

}  // namespace orchestrator
