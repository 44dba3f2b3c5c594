// What the recorded runs must show before an answer may be given. Nothing here weighs evidence as
// the daemon does. It rests on what holds for every test whose only chance is the coin of each
// pair: a pair can at most double the wealth, and only a pair on the claim's side of the bound
// raises it. So k such pairs are worth less than 2^k, and an answer at level alpha needs 2^k >=
// 2/alpha.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "orchestrator/simulator/rules.h"

namespace orchestrator {

using hypotheses::Answer;
using hypotheses::Question;
using hypotheses::Run;
using hypotheses::RunOutcome;
using hypotheses::Side;
using hypotheses::Verdict;

namespace {

constexpr const char* kBelow = "no-verdict-below-its-evidence";
constexpr const char* kBlamed = "invalid-never-refuted";
constexpr double kExact = 1e-6;

bool failed(const Run& run) {
  return run.outcome != RunOutcome::ok && run.outcome != RunOutcome::lost;
}

// The last run of a side that says whether it works: the build itself, or the launch.
const Run* last_word(const SeenExperiment& experiment, Side side) {
  const Run* last = nullptr;
  for (const Run& run : experiment.runs) {
    if (run.side == side && (failed(run) || (run.measured && run.outcome == RunOutcome::ok))) {
      last = &run;
    }
  }
  return last;
}

// Failures of the candidate in attempts in which the base did not fail as well.
int failures_of_its_own(const SeenExperiment& experiment) {
  std::set<int> base_failed;
  for (const Run& run : experiment.runs) {
    if (run.side == Side::base && failed(run)) base_failed.insert(run.attempt);
  }
  int count = 0;
  for (const Run& run : experiment.runs) {
    if (run.side != Side::candidate || !failed(run) || base_failed.count(run.attempt) != 0)
      continue;
    count += run.outcome == RunOutcome::build_failed ? 2 : 1;  // a build is not repeated
  }
  return count;
}

struct Bounds {
  double gain = 0;           // oriented log-ratio that a win needs
  double no_difference = 0;  // half the width of "no difference"
  double worst = 0;          // of a guard
};

Bounds bounds_of(const RuleContext& context, const SeenExperiment& experiment,
                 const hypotheses::Metric& metric) {
  const auto& started = experiment.started;
  const auto& rule = context.ledger.campaigns.at(started.campaign).policy.evidence;
  double margin = rule.guard_margin;
  for (const auto& guard : context.ledger.nights.at(started.night).manifest->guards) {
    if (guard.metric == started.key.metric) margin = guard.margin;
  }
  const double min_gain = std::max(rule.min_gain, started.min_gain.value_or(0));
  Bounds bounds{std::log1p(min_gain), std::log1p(rule.no_difference), 0};
  bounds.worst =
      metric.better == hypotheses::Better::lower ? -std::log1p(margin) : std::log1p(-margin);
  return bounds;
}

template <class Predicate>
int count(const std::vector<double>& x, Predicate predicate) {
  return static_cast<int>(std::count_if(x.begin(), x.end(), predicate));
}

// What is wrong with an answer that rests on pairs; empty when it may be.
std::string unsupported(const SeenExperiment& experiment, const Answer& answer,
                        const std::vector<double>& x, const Bounds& bounds,
                        const policies::EvidenceRule& rule, bool exact) {
  int all = static_cast<int>(x.size());
  if (all < (exact ? 1 : rule.min_pairs)) return fmt::format("only {} pairs", all);
  bool is_guard = experiment.started.question == Question::guards;
  double above = is_guard ? bounds.worst : 0;
  double below = is_guard ? bounds.worst : bounds.gain;
  int for_it = count(x, [&](double v) { return v > above; });
  int against_it = count(x, [&](double v) { return v < below; });
  if (answer.verdict == Verdict::no_difference) {
    double half = bounds.no_difference + 1e-9;  // an exact counter may stand on the bound itself
    for_it = std::min(count(x, [&](double v) { return v >= -half; }),
                      count(x, [&](double v) { return v <= half; }));
  }
  int speaking = answer.verdict == Verdict::refuted ? against_it : for_it;
  auto [least, most] = std::minmax_element(x.begin(), x.end());
  if (exact && *most - *least <= kExact && speaking == all) return "";
  // A confirmation is judged by its own level, below.
  bool confirmation = experiment.started.merge &&
                      experiment.started.question == Question::own_metric &&
                      answer.verdict == Verdict::supported;
  double needed = confirmation ? 1 : 2 / rule.alpha;
  if (std::ldexp(1, speaking) < needed * (1 - 1e-9)) {
    return fmt::format(
        "{} of {} pairs speak for it, which is worth less than {:g} of the {:g} "
        "needed",
        speaking, all, std::ldexp(1, speaking), needed);
  }
  if (answer.verdict == Verdict::supported && !is_guard && answer.evidence &&
      answer.evidence->effect < bounds.gain - 1e-9) {
    return fmt::format("a gain of {:.4f} where {:.4f} is needed", answer.evidence->effect,
                       bounds.gain);
  }
  return "";
}

void check_numbers(const RuleContext& context, const SeenExperiment& experiment,
                   const Answer& answer, const std::vector<double>& x) {
  if (!answer.evidence || answer.evidence->pairs == 0) return;
  std::string id = experiment.started.id.text();
  int pairs = static_cast<int>(x.size());
  if (answer.evidence->pairs != pairs) {
    context.broken(
        kBelow, fmt::format("{} counts {} pairs, {} went well", id, answer.evidence->pairs, pairs));
    return;
  }
  auto [least, most] = std::minmax_element(x.begin(), x.end());
  double effect = answer.evidence->effect;
  if (effect < *least - kExact || effect > *most + kExact) {
    context.broken(kBelow, fmt::format("{} says {:.4f}, its pairs lie within {:.4f} to {:.4f}", id,
                                       effect, *least, *most));
  }
}

void check_one_sided(const RuleContext& context, const SeenExperiment& experiment,
                     const Answer& answer) {
  std::string id = experiment.started.id.text();
  const Run* candidate = last_word(experiment, Side::candidate);
  if (answer.verdict == Verdict::supported &&
      (candidate == nullptr || candidate->outcome != RunOutcome::ok)) {
    context.broken(kBelow, id + " passes what no run of it passed");
  }
  if (answer.verdict != Verdict::refuted) return;
  const Run* base = last_word(experiment, Side::base);
  bool blame = candidate != nullptr && failed(*candidate);
  bool base_is_fine = base != nullptr && base->outcome == RunOutcome::ok;
  if (!blame || !base_is_fine) {
    context.broken(kBlamed, fmt::format("{} is refuted, though {}", id,
                                        blame ? "the base did not pass the same"
                                              : "no run of the candidate failed"));
  }
}

// Refuted on the noise that was known beforehand: the estimate plus the policy's number of standard
// errors must lie below what is needed, even with the least noise that anybody saw.
bool is_hopeless(const RuleContext& context, const SeenExperiment& experiment, const Answer& answer,
                 const std::vector<double>& x, const Bounds& bounds) {
  const auto& started = experiment.started;
  const SeenCampaign& campaign = context.ledger.campaigns.at(started.campaign);
  const double give_up = campaign.policy.evidence.give_up;
  const auto noise = campaign.least_noise.find(to_text(started.key));
  if (give_up <= 0 || noise == campaign.least_noise.end() || !answer.evidence) return false;
  if (started.question == Question::guards || x.size() < 2) return false;
  const double error = noise->second / std::sqrt(static_cast<double>(x.size()));
  return answer.evidence->effect + give_up * error < bounds.gain + 1e-9;
}

// A claim's own metric needs more than the policy's minimum only where a timeline says so.
void check_min_gain(const RuleContext& context, const hypotheses::Experiment& started) {
  if (!started.min_gain) return;
  const auto& rule = context.ledger.campaigns.at(started.campaign).policy.evidence;
  if (started.question == Question::own_metric && !started.merge &&
      *started.min_gain > rule.min_gain && context.ledger.nights.at(started.night).has_timeline) {
    return;
  }
  context.broken(kBelow, fmt::format("{} is judged by a minimum gain of {:.4f} without a reason",
                                     started.id.text(), *started.min_gain));
}

// A/A: no pairs are judged, their number is fixed beforehand.
void check_noise(const RuleContext& context, const SeenExperiment& experiment,
                 const Answer& answer) {
  if (answer.verdict != Verdict::no_difference) return;
  if (experiment.attempts >= experiment.started.max_attempts) return;
  context.broken(kBelow,
                 fmt::format("{} gives a noise after {} of {} pairs", experiment.started.id.text(),
                             experiment.attempts, experiment.started.max_attempts));
}

// Giving up without an answer is for budgets that are nearly gone, and for estimates so near to the
// gain that is needed that the cap would not do: from a quarter of it on. A merge that failed
// alone, if only once, is left to a person.
void check_giving_up(const RuleContext& context, const SeenExperiment& experiment) {
  constexpr double kAmple_s = 600;  // more than what any attempt and any reserve of ours takes
  const auto& started = experiment.started;
  const SeenNight& night = context.ledger.nights.at(started.night);
  const auto& budget = context.ledger.campaigns.at(started.campaign).policy.budget;
  if (experiment.attempts >= started.max_attempts || !night.running) return;
  const auto& rule = context.ledger.campaigns.at(started.campaign).policy.evidence;
  if (rule.give_up > 0 && 4 * experiment.attempts >= rule.max_pairs) return;
  if (started.merge && failures_of_its_own(experiment) > 0) return;
  bool ample = (budget.machine_s <= 0 || budget.machine_s - night.machine_s > kAmple_s) &&
               (budget.wall_s <= 0 ||
                budget.wall_s - context.at.seconds_since(night.started.started) > kAmple_s);
  if (ample) {
    context.broken(kBelow,
                   fmt::format("{} is given up after {} of {} attempts with budget left",
                               started.id.text(), experiment.attempts, started.max_attempts));
  }
}

void check_pairs(const RuleContext& context, const SeenExperiment& experiment,
                 const Answer& answer) {
  const auto& started = experiment.started;
  const auto& rule = context.ledger.campaigns.at(started.campaign).policy.evidence;
  const auto* metric = context.ledger.nights.at(started.night).manifest->metric(started.key.metric);
  if (metric == nullptr) return;
  auto x = log_ratios(experiment, metric->better);
  check_numbers(context, experiment, answer, x);
  if (!started.hypothesis && !started.merge) return check_noise(context, experiment, answer);
  if (answer.verdict == Verdict::inconclusive) return check_giving_up(context, experiment);
  if (answer.verdict == Verdict::invalid) return;
  if (answer.verdict == Verdict::refuted && failures_of_its_own(experiment) >= 2) return;
  const Bounds bounds = bounds_of(context, experiment, *metric);
  std::string wrong = unsupported(experiment, answer, x, bounds, rule, metric->exact);
  if (wrong.empty()) return;
  if (answer.verdict == Verdict::refuted && is_hopeless(context, experiment, answer, x, bounds)) {
    return;
  }
  bool nothing_measured = answer.verdict == Verdict::refuted && x.empty();
  context.broken(nothing_measured ? kBlamed : kBelow,
                 fmt::format("{} is {}: {}", started.id.text(), to_text(answer.verdict), wrong));
}

// A verdict rests on the answers: all of them supported, or one that is not.
void check_verdict(const RuleContext& context, const hypotheses::HypothesisDecided& fact) {
  const SeenHypothesis& hypothesis = context.ledger.hypotheses.at(fact.hypothesis);
  auto has = [&](Question question, Verdict verdict) {
    return std::any_of(hypothesis.answers.begin(), hypothesis.answers.end(), [&](const Answer& a) {
      return a.question == question && a.verdict == verdict;
    });
  };
  bool all_well = std::all_of(hypothesis.answers.begin(), hypothesis.answers.end(),
                              [](const Answer& a) { return a.verdict == Verdict::supported; });
  std::string id = fact.hypothesis.text();
  if (fact.verdict == Verdict::supported &&
      (!all_well || !has(Question::own_metric, Verdict::supported))) {
    context.broken(kBelow, id + " is supported, its answers are not");
  }
  bool refuted =
      std::any_of(hypothesis.answers.begin(), hypothesis.answers.end(),
                  [](const auto& a) { return a.verdict == Verdict::refuted && a.experiment; });
  if (fact.verdict == Verdict::refuted && !refuted) {
    context.broken(kBlamed, id + " is refuted by none of its answers");
  }
}

// A guard that runs of another question answered: they must show it as runs of its own would.
void check_same_runs(const RuleContext& context, const SeenExperiment& seen, const Answer& answer) {
  SeenExperiment experiment = seen;
  experiment.started.question = Question::guards;
  experiment.started.key = answer.evidence->key;
  experiment.started.min_gain.reset();
  if (answer.verdict != Verdict::supported && answer.verdict != Verdict::refuted) {
    context.broken(kBelow, experiment.started.id.text() + " leaves a guard unsettled");
  }
  check_pairs(context, experiment, answer);
}

// An answer that names an experiment is what that experiment found.
void check_source(const RuleContext& context, const Answer& answer, const std::string& whose) {
  if (!answer.experiment) return;
  const SeenExperiment& experiment = context.ledger.experiments.at(answer.experiment);
  if (answer.question == Question::guards && answer.evidence &&
      experiment.started.question != Question::guards) {
    return check_same_runs(context, experiment, answer);
  }
  const auto& found = experiment.answer;
  if (!found || found->verdict != answer.verdict || found->question != answer.question) {
    context.broken(kBelow,
                   fmt::format("{} is told what {} did not find", whose, answer.experiment.text()));
  }
}

}  // namespace

std::vector<double> log_ratios(const SeenExperiment& experiment, hypotheses::Better better) {
  std::map<int, std::map<Side, double>> attempts;
  std::set<int> disturbed;
  for (const Run& run : experiment.runs) {
    if (!run.measured || run.outcome != RunOutcome::ok) continue;
    if (!run.machine.disturbed.empty()) disturbed.insert(run.attempt);
    for (const auto& observation : run.observations) {
      if (observation.key == experiment.started.key) {
        attempts[run.attempt][run.side] = observation.value;
      }
    }
  }
  const auto& started = experiment.started;
  int to_set_aside = started.hypothesis || started.merge ? started.max_attempts / 8 : 0;
  std::vector<double> x;
  for (const auto& [attempt, sides] : attempts) {
    if (sides.size() != 2) continue;
    if (disturbed.contains(attempt) && to_set_aside-- > 0) continue;
    double base = sides.at(Side::base), candidate = sides.at(Side::candidate);
    if (!(base > 0) || !(candidate > 0)) continue;
    x.push_back(better == hypotheses::Better::lower ? std::log(base / candidate)
                                                    : std::log(candidate / base));
  }
  return x;
}

void check_evidence(const RuleContext& context, const hypotheses::Fact& fact) {
  if (const auto* started = std::get_if<hypotheses::ExperimentStarted>(&fact)) {
    check_min_gain(context, started->experiment);
  }
  if (const auto* finished = std::get_if<hypotheses::ExperimentFinished>(&fact)) {
    const auto& experiment = context.ledger.experiments.at(finished->experiment);
    bool one_sided = experiment.started.question == Question::builds ||
                     experiment.started.question == Question::correct;
    one_sided ? check_one_sided(context, experiment, finished->answer)
              : check_pairs(context, experiment, finished->answer);
  }
  if (const auto* decided = std::get_if<hypotheses::HypothesisDecided>(&fact)) {
    check_verdict(context, *decided);
  }
  if (const auto* answered = std::get_if<hypotheses::QuestionAnswered>(&fact)) {
    check_source(context, answered->answer, answered->hypothesis.text());
  }
  if (const auto* answered = std::get_if<hypotheses::MergeAnswered>(&fact)) {
    check_source(context, answered->answer, answered->merge.text());
  }
}

}  // namespace orchestrator
