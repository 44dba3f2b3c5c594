// What is said to the model and how its answer is read.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

#include "orchestrator/llm.h"

namespace orchestrator {

using base::ErrorCode;
using nlohmann::json;

namespace {

constexpr std::size_t kFileBytes = 12 << 10;   // of one file in the prompt
constexpr std::size_t kFilesBytes = 60 << 10;  // of all
constexpr std::size_t kHistoryItems = 30;
constexpr std::size_t kShortestSecret = 4;  // less would tear words apart
constexpr std::string_view kHidden = "[redacted]";

std::string history_text(const PlannerView& view) {
  std::string text;
  std::size_t first = view.history.size() > kHistoryItems ? view.history.size() - kHistoryItems : 0;
  for (std::size_t i = first; i < view.history.size(); ++i) {
    const PastClaim& past = view.history[i];
    text += fmt::format("- {} [{}]: {} -> {}{}\n", past.id.text(), to_text(past.change), past.claim,
                        past.verdict ? to_text(*past.verdict) : "open",
                        past.reason.empty() ? "" : "; " + past.reason);
  }
  return text.empty() ? "- none yet\n" : text;
}

std::string knobs_text(const PlannerView& view) {
  std::string text;
  for (const auto& [name, knob] : view.manifest.knobs) {
    auto current = view.settings.find(name);
    text += fmt::format("- {} = {} (choices: {})\n", name,
                        current == view.settings.end() ? "?" : current->second,
                        fmt::join(knob.choices, ", "));
  }
  return text.empty() ? "- none\n" : text;
}

std::string metrics_text(const PlannerView& view) {
  std::string text;
  for (const auto& [name, probe] : view.manifest.probes) {
    for (const auto& [metric, entry] : probe.metrics) {
      for (const auto& conditions : hypotheses::combinations(probe)) {
        text += fmt::format("- {} ({}, {} is better)\n",
                            to_text(hypotheses::MetricKey{metric, conditions}), entry.unit,
                            to_text(entry.better));
      }
    }
  }
  return text;
}

// Files that some probe covers and that may be changed, within a budget of bytes.
std::string files_text(const LlmQuestion& question) {
  auto files = question.list_files();
  if (!files) return "(the files cannot be read: " + files.error().text() + ")\n";
  std::string text, left_out;
  for (const std::string& path : *files) {
    const auto& manifest = question.view.manifest;
    bool covered = std::any_of(manifest.probes.begin(), manifest.probes.end(), [&](const auto& p) {
      return hypotheses::covers(p.second, {path}, {});
    });
    if (!covered || manifest.is_protected(path)) continue;
    auto content = question.read_file(path);
    if (!content) continue;
    if (content->size() > kFileBytes || text.size() + content->size() > kFilesBytes) {
      left_out += " " + path;
      continue;
    }
    text += fmt::format("=== {} ===\n{}\n", path, *content);
  }
  if (!left_out.empty()) text += "Left out for their size:" + left_out + "\n";
  return text;
}

base::Result<std::string> text_field(const json& object, const char* key) {
  auto found = object.find(key);
  if (found == object.end()) {
    return base::fail(ErrorCode::bad_input, fmt::format("'{}' is missing", key));
  }
  if (!found->is_string()) {
    return base::fail(ErrorCode::bad_input,
                      fmt::format("'{}' must be text, found {}", key, found->type_name()));
  }
  return found->get<std::string>();
}

base::Status only_keys(const json& object, std::initializer_list<std::string_view> allowed) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      return base::fail(ErrorCode::bad_input, fmt::format("unknown key '{}'; the keys here are: {}",
                                                          key, fmt::join(allowed, ", ")));
    }
  }
  return {};
}

// The first JSON object in the text: models like to wrap it in prose and fences.
base::Result<json> object_in(const std::string& text) {
  std::size_t begin = text.find('{');
  std::size_t end = text.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return base::fail(ErrorCode::bad_input, "the answer holds no complete JSON object");
  }
  json object = json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                            text.begin() + static_cast<std::ptrdiff_t>(end) + 1, nullptr, false);
  if (!object.is_object()) {
    return base::fail(ErrorCode::bad_input, "the answer is not valid JSON, or not one object");
  }
  return object;
}

base::Result<std::vector<hypotheses::KnobSetting>> knobs_of(const json& object) {
  auto found = object.find("knobs");
  if (found == object.end() || !found->is_object() || found->empty()) {
    return base::fail(ErrorCode::bad_input, "'knobs' must be an object {\"name\": value}");
  }
  std::vector<hypotheses::KnobSetting> knobs;
  for (const auto& [name, value] : found->items()) {
    if (!value.is_string() && !value.is_number() && !value.is_boolean()) {
      return base::fail(ErrorCode::bad_input, fmt::format("knob '{}' must be a scalar", name));
    }
    knobs.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  return knobs;
}

base::Result<std::vector<hypotheses::Edit>> edits_of(const json& object) {
  auto found = object.find("edits");
  if (found == object.end() || !found->is_array() || found->empty()) {
    return base::fail(ErrorCode::bad_input,
                      "'edits' must be a list of {\"path\", \"search\", \"replace\"}");
  }
  std::vector<hypotheses::Edit> edits;
  for (const json& item : *found) {
    if (!item.is_object()) return base::fail(ErrorCode::bad_input, "an edit must be an object");
    NS_TRY(only_keys(item, {"path", "search", "replace"}));
    NS_ASSIGN(path, text_field(item, "path"));
    NS_ASSIGN(search, text_field(item, "search"));
    NS_ASSIGN(replace, text_field(item, "replace"));
    edits.push_back({path, search, replace});
  }
  return edits;
}

}  // namespace

std::string system_prompt() {
  return R"(You improve the performance of a repository by proposing one experiment at a time. Each proposal is
built, checked for correctness and measured in pairs against its parent; only what repeated
measurements show counts. Answer with exactly one JSON object and nothing else, one of:
{"step": "knobs", "claim": "...", "knobs": {"name": value}, "predicts": "metric{condition=value} -10%"}
{"step": "patch", "claim": "...", "edits": [{"path": "...", "search": "...", "replace": "..."}], "predicts": "..."}
{"step": "measure", "claim": "...", "predicts": "metric{condition=value} -1%"}
{"step": "stop", "reason": "..."}
claim: one sentence, what changes and why that helps. predicts: a metric from the list with its
conditions and a size in percent of the metric's own value. search: text that occurs exactly once in
the file, copied exactly; all edits apply or none does; an empty search creates a new file. Do not
repeat what the history shows as judged. Protected files cannot be changed.)";
}

std::string user_prompt(const LlmQuestion& question) {
  const PlannerView& view = question.view;
  std::string refused;
  for (const std::string& reason : view.refusals) refused += "- " + reason + "\n";
  return fmt::format(
      "Goal: improve {}. Remaining budget: {:.0f} machine-seconds. Turn {}.\n\n"
      "Builds on: {}\n\nKnobs now:\n{}\nMetrics:\n{}\nHistory (oldest first):\n{}{}{}\nFiles:\n{}",
      to_text(view.goal), view.remaining_s, question.turn,
      view.incumbent ? view.incumbent.text() : "the base branch", knobs_text(view),
      metrics_text(view), history_text(view), refused.empty() ? "" : "\nRefused tonight:\n",
      refused, files_text(question));
}

base::Result<Step> parse_step(const std::string& text) {
  NS_ASSIGN(object, object_in(text));
  NS_ASSIGN(kind, text_field(object, "step"));
  if (kind == "stop") {
    NS_TRY(only_keys(object, {"step", "reason"}));
    NS_ASSIGN(reason, text_field(object, "reason"));
    return Step{Stop{reason}};
  }
  if (kind != "knobs" && kind != "patch" && kind != "measure") {
    return base::fail(ErrorCode::bad_input,
                      "'step' must be knobs, patch, measure or stop, found '" + kind + "'");
  }
  Proposal proposal;
  NS_ASSIGN(claim, text_field(object, "claim"));
  NS_ASSIGN(predicts, text_field(object, "predicts"));
  proposal.claim = claim;
  auto prediction = hypotheses::parse_prediction(predicts);
  if (!prediction) {
    return base::fail(
        ErrorCode::bad_input,
        "'predicts' must look like 'kda_decode.time{batch=1} -10%', found '" + predicts + "'");
  }
  proposal.prediction = *prediction;
  if (kind == "knobs") {
    NS_TRY(only_keys(object, {"step", "claim", "predicts", "knobs"}));
    NS_ASSIGN(knobs, knobs_of(object));
    proposal.change.knobs = knobs;
    proposal.subject = {hypotheses::SubjectKind::kernel, knobs.front().knob};
  } else if (kind == "patch") {
    NS_TRY(only_keys(object, {"step", "claim", "predicts", "edits"}));
    NS_ASSIGN(edits, edits_of(object));
    proposal.change.edits = edits;
    proposal.subject = {hypotheses::SubjectKind::code_path, edits.front().path};
  } else {
    NS_TRY(only_keys(object, {"step", "claim", "predicts"}));
    proposal.subject = {hypotheses::SubjectKind::input_condition, to_text(prediction->key)};
  }
  return Step{std::move(proposal)};
}

std::string hide(std::string text, const std::string& secret) {
  if (secret.size() < kShortestSecret) return text;
  for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
    text.replace(at, secret.size(), kHidden);
    at += kHidden.size();
  }
  return text;
}

// By hand and not by regular expression: the library's recurses once a character, and this text
// comes from outside.
std::string redact(std::string text, const std::string& secret) {
  text = hide(std::move(text), secret);
  struct Mark {
    std::string_view begin;
    std::size_t kept;      // of `begin`, what is no secret itself
    std::size_t shortest;  // fewer characters behind it are no key
  };
  // Keys of the common providers by their prefixes, and what follows the names of such fields.
  static constexpr Mark kMarks[] = {
      {"sk-", 0, 8},      {"ghp_", 0, 20},     {"gho_", 0, 20},         {"ghs_", 0, 20},
      {"AKIA", 0, 12},    {"xoxb-", 0, 10},    {"Bearer ", 7, 8},       {"bearer ", 7, 8},
      {"api_key=", 8, 8}, {"api-key: ", 9, 8}, {"api_key\": \"", 11, 8}};
  auto part_of_key = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("._~+/=-").find(c) != std::string_view::npos;
  };
  for (const Mark& mark : kMarks) {
    for (auto at = text.find(mark.begin); at != std::string::npos; at = text.find(mark.begin, at)) {
      std::size_t end = at + mark.begin.size();
      while (end < text.size() && part_of_key(text[end])) ++end;
      if (end - at - mark.begin.size() >= mark.shortest) {
        text.replace(at + mark.kept, end - at - mark.kept, kHidden);
        at += mark.kept + kHidden.size();
      } else {
        at = end;
      }
    }
  }
  return text;
}

}  // namespace orchestrator
