#include "policies/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace policies {
namespace {

using hypotheses::YamlNode;

// What a value may be; `text` says it in the message.
struct Range {
  double low, high;
  const char* text;
};

constexpr Range kLevel{1e-9, 0.5, "more than 0 and at most 0.5"};
constexpr Range kFraction{0, 10, "0% to 1000%"};
constexpr Range kPositiveCount{1, 1e6, "1 to 1,000,000"};
constexpr Range kCount{0, 1e12, "0 or more"};
constexpr Range kSeconds{0, 1e9, "0 s or more"};

// Leaves `target` as it is when the node is absent or wrong; what is wrong was reported.
template <class T, class V>
void assign(const YamlNode& node, const Range& range, std::optional<V> value, T& target) {
  if (!value) return;
  if (!(static_cast<double>(*value) >= range.low && static_cast<double>(*value) <= range.high)) {
    node.mistake(fmt::format("expected {}, found {}", range.text, *value));
    return;
  }
  target = static_cast<T>(*value);
}

void read_fraction(const YamlNode& parent, std::string_view key, const Range& range,
                   double& target) {
  const YamlNode node = parent.at(key);
  if (node.present()) assign(node, range, node.fraction(), target);
}

void read_seconds(const YamlNode& parent, std::string_view key, double& target) {
  const YamlNode node = parent.at(key);
  if (node.present()) assign(node, kSeconds, node.seconds(), target);
}

void read_number(const YamlNode& parent, std::string_view key, const Range& range, double& target) {
  const YamlNode node = parent.at(key);
  if (node.present()) assign(node, range, node.number(), target);
}

template <class T>
void read_count(const YamlNode& parent, std::string_view key, const Range& range, T& target) {
  const YamlNode node = parent.at(key);
  if (node.present()) assign(node, range, node.integer(), target);
}

void read_boolean(const YamlNode& parent, std::string_view key, bool& target) {
  const YamlNode node = parent.at(key);
  if (!node.present()) return;
  if (const auto value = node.boolean()) target = *value;
}

void read_text(const YamlNode& parent, std::string_view key, std::string& target) {
  const YamlNode node = parent.at(key);
  if (!node.present()) return;
  if (auto value = node.text()) target = std::move(*value);
}

template <std::size_t N>
void read_word(const YamlNode& parent, std::string_view key,
               const std::array<std::string_view, N>& words, std::string& target) {
  const YamlNode node = parent.at(key);
  if (!node.present()) return;
  auto value = node.text();
  if (!value) return;
  if (std::find(words.begin(), words.end(), *value) == words.end()) {
    std::string list;
    for (std::string_view word : words) list += (list.empty() ? "" : ", ") + std::string(word);
    node.mistake(fmt::format("expected one of {}, found \"{}\"", list, *value));
    return;
  }
  target = std::move(*value);
}

// A child map with only the allowed keys; absent when there is none.
YamlNode child(const YamlNode& parent, std::string_view key,
               const std::vector<std::string_view>& allowed) {
  const YamlNode node = parent.at(key);
  if (node.present()) node.keys(allowed);
  return node.present() && node.is_map() ? node : YamlNode();
}

void read_evidence(const YamlNode& root, EvidenceRule& rule) {
  const YamlNode node =
      child(root, "evidence",
            {"alpha", "min_gain", "no_difference", "naming_effort", "give_up", "guard_margin",
             "min_pairs", "max_pairs", "noise_pairs", "max_noise", "implausible_ratio"});
  if (!node.present()) return;
  read_fraction(node, "alpha", kLevel, rule.alpha);
  read_fraction(node, "min_gain", kFraction, rule.min_gain);
  // Who asks for a smaller gain and says nothing of the band means a smaller band too.
  rule.no_difference = std::min(rule.no_difference, rule.min_gain);
  read_fraction(node, "no_difference", kFraction, rule.no_difference);
  read_number(node, "naming_effort", {0, 1e6, "0 to 1,000,000"}, rule.naming_effort);
  read_number(node, "give_up", {0, 100, "0 to 100 standard errors"}, rule.give_up);
  read_fraction(node, "guard_margin", {1e-9, 0.999, "more than 0% and less than 100%"},
                rule.guard_margin);
  read_count(node, "min_pairs", kPositiveCount, rule.min_pairs);
  read_count(node, "max_pairs", kPositiveCount, rule.max_pairs);
  read_count(node, "noise_pairs", kCount, rule.noise_pairs);
  read_fraction(node, "max_noise", {1e-9, 10, "more than 0% and at most 1000%"}, rule.max_noise);
  read_number(node, "implausible_ratio", {1.000001, 1e9, "a ratio above 1"},
              rule.implausible_ratio);
  if (rule.no_difference > rule.min_gain) {
    node.mistake(
        fmt::format("no_difference ({:g}) must not exceed min_gain ({:g}), else one result "
                    "could be both",
                    rule.no_difference, rule.min_gain));
  }
  if (rule.min_pairs > rule.max_pairs) {
    node.mistake(fmt::format("min_pairs ({}) must not exceed max_pairs ({})", rule.min_pairs,
                             rule.max_pairs));
  }
}

void read_budget(const YamlNode& root, hypotheses::Budget& budget) {
  const YamlNode node = child(root, "budget", {"wall", "machine", "experiments", "tokens"});
  if (!node.present()) return;
  read_seconds(node, "wall", budget.wall_s);
  read_seconds(node, "machine", budget.machine_s);
  read_count(node, "experiments", {0, 1e9, "0 to 1,000,000,000"}, budget.experiments);
  read_count(node, "tokens", kCount, budget.tokens);
}

void read_planner(const YamlNode& root, PlannerRule& rule) {
  const YamlNode node =
      child(root, "planner",
            {"kind", "endpoint", "model", "key_env", "max_turns", "max_retries", "max_tokens",
             "answer_tokens", "timeout", "patience", "patch_bytes"});
  if (!node.present()) return;
  read_word(node, "kind", std::array<std::string_view, 2>{"builtin", "llm"}, rule.kind);
  read_text(node, "endpoint", rule.endpoint);
  read_text(node, "model", rule.model);
  read_text(node, "key_env", rule.key_env);
  read_count(node, "max_turns", kPositiveCount, rule.max_turns);
  read_count(node, "max_retries", {0, 100, "0 to 100"}, rule.max_retries);
  read_count(node, "max_tokens", kCount, rule.max_tokens);
  read_count(node, "answer_tokens", kPositiveCount, rule.answer_tokens);
  read_seconds(node, "timeout", rule.timeout_s);
  read_count(node, "patience", kPositiveCount, rule.patience);
  read_count(node, "patch_bytes", {1, 1 << 30, "1 to 1,073,741,824"}, rule.patch_bytes);
  const bool is_url = rule.endpoint.starts_with("http://") || rule.endpoint.starts_with("https://");
  if (!rule.endpoint.empty() && !is_url) {
    node.at("endpoint")
        .mistake(fmt::format("expected a base URL like https://host:port/path, found \"{}\"",
                             rule.endpoint));
  }
  if (rule.kind == "llm" && (rule.endpoint.empty() || rule.model.empty())) {
    node.mistake("kind llm needs endpoint and model");
  }
}

void read_merge(const YamlNode& root, MergeRule& rule) {
  const YamlNode node =
      child(root, "merge", {"on_kernel_evidence", "auto_approve_knobs", "max_remeasures", "fdr"});
  if (!node.present()) return;
  read_boolean(node, "on_kernel_evidence", rule.on_kernel_evidence);
  read_boolean(node, "auto_approve_knobs", rule.auto_approve_knobs);
  read_count(node, "max_remeasures", {0, 1000, "0 to 1,000"}, rule.max_remeasures);
  read_fraction(node, "fdr", kLevel, rule.fdr);
}

void read_retention(const YamlNode& root, RetentionRule& rule) {
  const YamlNode node = child(root, "retention", {"artifacts_days", "keep_merged", "max_gib"});
  if (!node.present()) return;
  read_count(node, "artifacts_days", {0, 1e5, "0 to 100,000 days"}, rule.artifacts_days);
  read_boolean(node, "keep_merged", rule.keep_merged);
  read_number(node, "max_gib", {0, 1e6, "0 to 1,000,000 GiB"}, rule.max_gib);
}

void read_protected(const YamlNode& root, std::vector<std::string>& paths) {
  const YamlNode node = root.at("protected");
  if (!node.present()) return;
  for (const YamlNode& item : node.items()) {
    auto path = item.text();
    if (!path) continue;
    if (path->empty() || path->starts_with('/')) {
      item.mistake("expected a glob relative to the repository's root, like kernels/**");
    } else {
      paths.push_back(std::move(*path));
    }
  }
}

// Nothing but white space and comments; to the reader of YAML that is a mistake, here it says
// nothing.
bool is_blank(std::string_view yaml) {
  bool in_comment = false;
  for (char c : yaml) {
    if (c == '\n') in_comment = false;
    if (c == '#') in_comment = true;
    if (!in_comment && c != ' ' && c != '\t' && c != '\r' && c != '\n') return false;
  }
  return true;
}

void read_all(const YamlNode& root, Policy& policy) {
  read_evidence(root, policy.evidence);
  read_budget(root, policy.budget);
  read_planner(root, policy.planner);
  read_merge(root, policy.merge);
  read_retention(root, policy.retention);
  read_word(root, "sandbox", std::array<std::string_view, 3>{"required", "auto", "none"},
            policy.sandbox);
  read_seconds(root, "fetch", policy.fetch_s);
  read_protected(root, policy.protected_paths);
  read_count(root, "max_hypotheses", {0, 1e9, "0 to 1,000,000,000"}, policy.max_hypotheses);
  read_number(root, "core_price", {0, 1e6, "0 to 1,000,000"}, policy.core_price);
  read_number(root, "gpu_price", {0, 1e6, "0 to 1,000,000"}, policy.gpu_price);
}

}  // namespace

PolicyOutcome parse_policy(std::string_view yaml, std::string file) {
  PolicyOutcome outcome;
  if (is_blank(yaml)) return outcome;
  const auto document = hypotheses::YamlDocument::parse(yaml, std::move(file));
  const YamlNode root = document.root();
  if (root.present()) {
    root.keys({"evidence", "budget", "planner", "merge", "retention", "fetch", "sandbox",
               "protected", "max_hypotheses", "core_price", "gpu_price"});
  }
  if (root.is_map()) read_all(root, outcome.policy);
  outcome.mistakes = document.mistakes();
  return outcome;
}

base::Result<Policy> read_policy(std::string_view yaml, std::string file) {
  PolicyOutcome outcome = parse_policy(yaml, std::move(file));
  if (!outcome.mistakes.empty()) {
    return base::fail(base::ErrorCode::bad_input, hypotheses::to_text(outcome.mistakes));
  }
  return std::move(outcome.policy);
}

}  // namespace policies
