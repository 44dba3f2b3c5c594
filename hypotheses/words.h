// The closed sets of the glossary, each with the words that users see in JSON, pages and files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hypotheses {

// What must be known about a hypothesis next, in the order in which the first two gate the rest.
enum class Question { builds, correct, own_metric, carries_over, guards };

// How far from the whole product a probe measures.
enum class Layer { kernel, component, engine };

// What a probe of the manifest answers.
enum class ProbeKind { correctness, counters, speed, timeline, serving };

// How a probe writes its results.
enum class Format { nightshift, google_benchmark, hyperfine, junit, chrome_trace };

// An answer to one question, and the verdict on a hypothesis. `invalid` means that the machine, the
// build system or the policy was at fault; it never counts as refuted.
enum class Verdict { supported, refuted, no_difference, inconclusive, invalid };

enum class HypothesisState { queued, preparing, testing, decided, cancelled };
enum class ExperimentState { running, finished, cancelled };
enum class CampaignState { active, paused, cancelled };
enum class NightState { running, ended };
enum class MergeState {
  preparing,  // the merge commit is being made
  measuring,  // its fresh build is being measured against the base
  waiting,    // measured and confirmed: a person decides
  approved,   // a person approved exactly this commit; it is being landed
  landed,     // the target's ref stands on it
  rejected,   // a person said no
  failed,     // conflict, not confirmed, or the merge could not be measured
};
enum class RunOutcome {
  ok,             // ran, and its output could be read
  failed_check,   // ran and failed its check (exit 1)
  build_failed,   // a build command ended with an error
  timeout,        // killed at its time limit
  crashed,        // killed by a signal, or out of memory
  could_not_run,  // anything else: missing program, sandbox, usage error
  bad_output,     // ended well but a metric is missing, not finite or unreadable
  lost,           // the daemon died under it; it was started anew
};
enum class Side { base, candidate };
enum class Better { lower, higher };
enum class Origin { builtin, llm, person, branch };
enum class SubjectKind { launch_parameter, code_path, kernel, input_condition, thread, interval };

template <class E>
using WordTable = std::pair<E, std::string_view>;

// clang-format off
constexpr WordTable<Question> kQuestionWords[] = {
    {Question::builds, "builds"}, {Question::correct, "correct"},
    {Question::own_metric, "own-metric"}, {Question::carries_over, "carries-over"},
    {Question::guards, "guards"}};
constexpr WordTable<Layer> kLayerWords[] = {
    {Layer::kernel, "kernel"}, {Layer::component, "component"},
    {Layer::engine, "engine"}};
constexpr WordTable<ProbeKind> kProbeKindWords[] = {
    {ProbeKind::correctness, "correctness"}, {ProbeKind::counters, "counters"},
    {ProbeKind::speed, "speed"}, {ProbeKind::timeline, "timeline"}, {ProbeKind::serving, "serving"}};
constexpr WordTable<Format> kFormatWords[] = {
    {Format::nightshift, "nightshift"},
    {Format::google_benchmark, "google-benchmark"}, {Format::hyperfine, "hyperfine"},
    {Format::junit, "junit"}, {Format::chrome_trace, "chrome-trace"}};
constexpr WordTable<Verdict> kVerdictWords[] = {
    {Verdict::supported, "supported"}, {Verdict::refuted, "refuted"},
    {Verdict::no_difference, "no-difference"}, {Verdict::inconclusive, "inconclusive"},
    {Verdict::invalid, "invalid"}};
constexpr WordTable<HypothesisState> kHypothesisStateWords[] = {
    {HypothesisState::queued, "queued"},
    {HypothesisState::preparing, "preparing"}, {HypothesisState::testing, "testing"},
    {HypothesisState::decided, "decided"}, {HypothesisState::cancelled, "cancelled"}};
constexpr WordTable<ExperimentState> kExperimentStateWords[] = {
    {ExperimentState::running, "running"},
    {ExperimentState::finished, "finished"}, {ExperimentState::cancelled, "cancelled"}};
constexpr WordTable<CampaignState> kCampaignStateWords[] = {
    {CampaignState::active, "active"},
    {CampaignState::paused, "paused"}, {CampaignState::cancelled, "cancelled"}};
constexpr WordTable<NightState> kNightStateWords[] = {
    {NightState::running, "running"}, {NightState::ended, "ended"}};
constexpr WordTable<MergeState> kMergeStateWords[] = {
    {MergeState::preparing, "preparing"}, {MergeState::measuring, "measuring"},
    {MergeState::waiting, "waiting"}, {MergeState::approved, "approved"},
    {MergeState::landed, "landed"}, {MergeState::rejected, "rejected"},
    {MergeState::failed, "failed"}};
constexpr WordTable<RunOutcome> kRunOutcomeWords[] = {
    {RunOutcome::ok, "ok"}, {RunOutcome::failed_check, "failed-check"},
    {RunOutcome::build_failed, "build-failed"}, {RunOutcome::timeout, "timeout"},
    {RunOutcome::crashed, "crashed"}, {RunOutcome::could_not_run, "could-not-run"},
    {RunOutcome::bad_output, "bad-output"}, {RunOutcome::lost, "lost"}};
constexpr WordTable<Side> kSideWords[] = {
    {Side::base, "base"}, {Side::candidate, "candidate"}};
constexpr WordTable<Better> kBetterWords[] = {
    {Better::lower, "lower"}, {Better::higher, "higher"}};
constexpr WordTable<Origin> kOriginWords[] = {
    {Origin::builtin, "builtin"}, {Origin::llm, "llm"},
    {Origin::person, "person"}, {Origin::branch, "branch"}};
constexpr WordTable<SubjectKind> kSubjectKindWords[] = {
    {SubjectKind::launch_parameter, "launch-parameter"},
    {SubjectKind::code_path, "code-path"}, {SubjectKind::kernel, "kernel"},
    {SubjectKind::input_condition, "input-condition"}, {SubjectKind::thread, "thread"},
    {SubjectKind::interval, "interval"}};
// clang-format on

constexpr const auto& words(Question) { return kQuestionWords; }
constexpr const auto& words(Layer) { return kLayerWords; }
constexpr const auto& words(ProbeKind) { return kProbeKindWords; }
constexpr const auto& words(Format) { return kFormatWords; }
constexpr const auto& words(Verdict) { return kVerdictWords; }
constexpr const auto& words(HypothesisState) { return kHypothesisStateWords; }
constexpr const auto& words(ExperimentState) { return kExperimentStateWords; }
constexpr const auto& words(CampaignState) { return kCampaignStateWords; }
constexpr const auto& words(NightState) { return kNightStateWords; }
constexpr const auto& words(MergeState) { return kMergeStateWords; }
constexpr const auto& words(RunOutcome) { return kRunOutcomeWords; }
constexpr const auto& words(Side) { return kSideWords; }
constexpr const auto& words(Better) { return kBetterWords; }
constexpr const auto& words(Origin) { return kOriginWords; }
constexpr const auto& words(SubjectKind) { return kSubjectKindWords; }

template <class E>
requires requires(E e) { words(e); }
constexpr std::string_view to_text(E value) {
  for (const auto& [entry, word] : words(value)) {
    if (entry == value) return word;
  }
  return "?";
}

template <class E>
constexpr std::optional<E> from_text(std::string_view text) {
  for (const auto& [entry, word] : words(E{})) {
    if (word == text) return entry;
  }
  return {};
}

// "kernel, component, engine": for error messages.
template <class E>
std::string all_words() {
  std::string list;
  for (const auto& [entry, word] : words(E{})) {
    if (!list.empty()) list += ", ";
    list += word;
  }
  return list;
}

}  // namespace hypotheses
