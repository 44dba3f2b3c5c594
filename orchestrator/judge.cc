#include "orchestrator/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/rng.h"
#include "orchestrator/broken_rule.h"
#include "orchestrator/timelines.h"
#include "policies/failures.h"
#include "policies/fitness.h"

namespace orchestrator {

using hypotheses::Answer;
using hypotheses::Experiment;
using hypotheses::Question;
using hypotheses::Run;
using hypotheses::RunOutcome;
using hypotheses::Side;
using hypotheses::Verdict;

namespace {

Answer answer(const Experiment& experiment, Verdict verdict, std::string reason) {
  Answer result{experiment.question, verdict, std::move(reason), {}, experiment.id};
  if (!experiment.key.metric.empty()) {
    result.evidence.emplace();
    result.evidence->key = experiment.key;
  }
  return result;
}

const Run* find_run(const ExperimentRecord& record, Side side, RunOutcome outcome) {
  for (const Run& run : record.runs) {
    if (run.side == side && run.outcome == outcome) return &run;
  }
  return nullptr;
}

// The last run of this side that says anything: a build that went well is no answer, a lost run
// none.
const Run* last_run(const ExperimentRecord& record, Side side) {
  for (auto run = record.runs.rbegin(); run != record.runs.rend(); ++run) {
    if (run->outcome == RunOutcome::lost) continue;
    if (run->side == side && (run->measured || run->outcome != RunOutcome::ok)) return &*run;
  }
  return nullptr;
}

std::string told(const Run& run) {
  return std::string(to_text(run.outcome)) + (run.detail.empty() ? "" : ": " + run.detail);
}

// Runs that ended as this one did, on its side.
std::ptrdiff_t count_runs(const ExperimentRecord& record, const Run& like) {
  return std::count_if(record.runs.begin(), record.runs.end(), [&](const Run& run) {
    return run.side == like.side && run.outcome == like.outcome;
  });
}

// Builds and correct: the candidate alone. A run that a signal ended is repeated once: it may be
// the candidate, or somebody on this machine who killed it. Where the candidate fails the base is
// asked too, since what the base fails as well is no news about the candidate.
Outcome judge_one_sided(const ExperimentRecord& record) {
  const Experiment& experiment = record.experiment;
  const Run* candidate = last_run(record, Side::candidate);
  if (candidate == nullptr) return NextAttempt{{Side::candidate}};
  if (candidate->outcome == RunOutcome::ok) {
    std::string what = experiment.question == Question::builds ? "builds" : "passes its check";
    return answer(experiment, Verdict::supported,
                  fmt::format("{} ({:.1f} s)", what, candidate->wall_s));
  }
  const bool by_whomever =
      candidate->outcome == RunOutcome::crashed || candidate->outcome == RunOutcome::could_not_run;
  if (by_whomever && count_runs(record, *candidate) < 2) {
    return NextAttempt{{Side::candidate}};
  }
  if (broken(Rule::base_is_asked_too))
    return answer(experiment, Verdict::refuted, told(*candidate));
  const Run* base = last_run(record, Side::base);
  if (base == nullptr) return NextAttempt{{Side::base}};
  if (base->outcome != RunOutcome::ok) {
    return answer(experiment, Verdict::invalid, "the base fails too: " + told(*base));
  }
  return answer(experiment, Verdict::refuted, told(*candidate));
}

std::optional<double> value_of(const Run& run, const hypotheses::MetricKey& key) {
  for (const auto& observation : run.observations) {
    if (observation.key == key) return observation.value;
  }
  return {};
}

std::string unusable_text(std::optional<double> value) {
  return value ? fmt::format("measured {:g}, where a positive value was expected", *value)
               : "did not measure the metric";
}

// What one side of an attempt came to.
struct SideOfAttempt {
  const Run* good = nullptr;
  const Run* failed = nullptr;
  bool lost = false;

  void add(const Run& run) {
    if (run.outcome == RunOutcome::lost) {
      lost = true;
    } else if (run.outcome != RunOutcome::ok) {
      failed = &run;
    } else if (run.measured) {
      good = &run;
    }
  }
  bool has_failed() const { return failed != nullptr && good == nullptr; }
  bool is_unknown() const { return lost && failed == nullptr && good == nullptr; }
};

struct Attempt {
  SideOfAttempt base, candidate;
};

std::map<int, Attempt> by_attempt(const ExperimentRecord& record) {
  std::map<int, Attempt> attempts;
  for (const Run& run : record.runs) {
    Attempt& attempt = attempts[run.attempt];
    (run.side == Side::base ? attempt.base : attempt.candidate).add(run);
  }
  return attempts;
}

struct Failures {
  policies::Attempts attempts;
  std::string of_base, of_candidate;  // what the last one said
};

bool is_usable(std::optional<double> value) { return value && std::isfinite(*value) && *value > 0; }

// A value that has no logarithm where the other side's has one is a failure too; both 0 is a tie.
Failures count_failures(const ExperimentRecord& record) {
  Failures failures;
  for (const auto& [number, attempt] : by_attempt(record)) {
    const auto& [base, candidate] = attempt;
    if (base.is_unknown() || candidate.is_unknown()) continue;
    bool base_failed = base.has_failed(), candidate_failed = candidate.has_failed();
    if (base.good != nullptr && candidate.good != nullptr) {
      const auto a = value_of(*base.good, record.experiment.key);
      const auto b = value_of(*candidate.good, record.experiment.key);
      const bool tie = a && b && *a == 0 && *b == 0;
      base_failed = !tie && !is_usable(a);
      candidate_failed = !tie && !is_usable(b);
      if (base_failed) failures.of_base = unusable_text(a);
      if (candidate_failed) failures.of_candidate = unusable_text(b);
    } else if (!base_failed && !candidate_failed) {
      continue;  // one side was not launched, and nothing says why
    }
    if (base.has_failed()) failures.of_base = told(*base.failed);
    if (candidate.has_failed()) failures.of_candidate = told(*candidate.failed);
    auto& counts = failures.attempts;
    ++(base_failed ? (candidate_failed ? counts.both_failed : counts.base_failed)
                   : (candidate_failed ? counts.candidate_failed : counts.both_ran));
  }
  return failures;
}

// A failed build ends a comparison at once; failed runs do by the rules of policies/failures.h.
std::optional<Answer> judge_failures(const ExperimentRecord& record, const Failures& failures,
                                     const JudgeRule& rule) {
  const Experiment& experiment = record.experiment;
  if (const Run* run = find_run(record, Side::base, RunOutcome::build_failed)) {
    return answer(experiment, Verdict::invalid, "the base does not build: " + run->detail);
  }
  if (const Run* run = find_run(record, Side::candidate, RunOutcome::build_failed)) {
    return answer(experiment, Verdict::refuted, "does not build: " + run->detail);
  }
  const auto judged = policies::judge_failures(failures.attempts, rule.evidence.alpha);
  if (!judged) return {};
  const bool of_base = judged->verdict == Verdict::invalid;
  // In A/A both sides are the base.
  return answer(experiment, rule.is_noise ? Verdict::invalid : judged->verdict,
                judged->reason + ": " + (of_base ? failures.of_base : failures.of_candidate));
}

// The A/A measurement is answered "no-difference" by a machine that is fit to measure.
std::optional<policies::Judgement> judge_noise(const ExperimentRecord& record, bool exact,
                                               const JudgeRule& rule,
                                               hypotheses::Evidence& evidence) {
  if (record.attempts < record.experiment.max_attempts) return {};
  const int affordable =
      rule.affordable_pairs > 0 ? rule.affordable_pairs : rule.evidence.max_pairs;
  auto judged = policies::judge_fitness(evidence, exact, rule.evidence, affordable);
  evidence.noise = judged.noise;
  const bool unfit = judged.fitness == policies::Fitness::quarantined;
  return policies::Judgement{unfit ? Verdict::invalid : Verdict::no_difference,
                             std::move(judged.reason)};
}

std::optional<policies::Judgement> judge_question(const ExperimentRecord& record, bool exact,
                                                  const JudgeRule& rule,
                                                  const hypotheses::Evidence& evidence) {
  const policies::EvidenceRule& numbers = rule.evidence;
  if (record.experiment.question == Question::guards) {
    return policies::judge_guard(evidence, rule.guard_margin, numbers, exact, record.attempts);
  }
  auto judgement = rule.level > 0 ? policies::judge_confirmation(evidence, rule.level, numbers,
                                                                 exact, record.attempts)
                                  : policies::judge_gain(evidence, numbers, exact, record.attempts);
  if (judgement) return judgement;
  return policies::judge_hopeless(evidence, rule.noise, numbers, rule.going_on);
}

// "host (processor, 8 cores)" -> "processor".
std::string processor_of(const Run& run) {
  const std::string& machine = run.machine.machine;
  const auto open = machine.find('('), comma = machine.rfind(',');
  if (open == std::string::npos || comma == std::string::npos || comma < open) return machine;
  return machine.substr(open + 1, comma - open - 1);
}

// A pair is of one machine by construction, but on a cluster the next pair may be of another. What
// processors of two types say together holds for neither of them.
std::string mixed_processors(const ExperimentRecord& record) {
  std::string first;
  for (const Run& run : record.runs) {
    if (!run.measured || run.outcome != RunOutcome::ok || run.machine.machine.empty()) continue;
    const std::string processor = processor_of(run);
    if (first.empty()) first = processor;
    if (processor == first) continue;
    return fmt::format(
        "its pairs ran on processors of different types ({}; {}): let the probe's "
        "resources.slurm.constraint name one type",
        first, processor);
  }
  return "";
}

// A gain that the good pairs show is no gain while the candidate fails where the base runs.
void hold_back(std::optional<policies::Judgement>& judgement, const ExperimentRecord& record,
               const Failures& failures, const JudgeRule& rule) {
  if (!judgement || judgement->verdict != Verdict::supported) return;
  const bool is_merge = bool(record.experiment.merge);
  const std::string why = policies::failures_in_the_way(failures.attempts, is_merge);
  if (why.empty()) return;
  if (!is_merge && record.attempts < rule.evidence.max_pairs) {
    judgement.reset();
    return;
  }
  judgement->verdict = Verdict::inconclusive;
  judgement->reason += "; but " + why + " (" + failures.of_candidate + ")";
}

Outcome judge_pairs(const ExperimentRecord& record, const hypotheses::Metric& metric,
                    const JudgeRule& rule) {
  const Experiment& experiment = record.experiment;
  const Failures failures = count_failures(record);
  if (auto failed = judge_failures(record, failures, rule)) return *failed;
  if (std::string mixed = mixed_processors(record); !mixed.empty()) {
    return answer(experiment, Verdict::invalid, std::move(mixed));
  }
  auto evidence = policies::weigh(good_pairs(record), experiment.key, metric, rule.evidence.alpha,
                                  rule.noise, rule.evidence.implausible_ratio, rule.machine);
  auto judgement = rule.is_noise ? judge_noise(record, metric.exact, rule, evidence)
                                 : judge_question(record, metric.exact, rule, evidence);
  if (rule.is_noise && judgement && evidence.pairs == 0) {
    const auto& why = failures.of_base.empty() ? failures.of_candidate : failures.of_base;
    if (!why.empty()) judgement->reason += " (" + why + ")";
  }
  hold_back(judgement, record, failures, rule);
  if (!rule.is_noise && broken(Rule::evidence_decides) && evidence.effect > 0)
    judgement = {Verdict::supported, "so"};
  if (!judgement) return NextAttempt{coin_order(experiment.seed, record.attempts)};
  if (judgement->verdict == Verdict::supported && failures.attempts.candidate_failed > 0) {
    judgement->reason +=
        fmt::format("; {} ({})", failures_text(failures.attempts), failures.of_candidate);
  }
  Answer result = answer(experiment, judgement->verdict, judgement->reason);
  result.evidence = evidence;
  return result;
}

// One run of the base tells it, or that there is nothing to tell: then the shares stay unknown.
Outcome judge_timeline(const ExperimentRecord& record) {
  const Run* run = last_run(record, Side::base);
  if (run == nullptr) return NextAttempt{{Side::base}};
  bool read = run->outcome == RunOutcome::ok && run->timeline;
  Answer result{record.experiment.question,
                read ? Verdict::supported : Verdict::invalid,
                read ? timeline_text(*run->timeline) : "no timeline could be read: " + told(*run),
                {},
                record.experiment.id};
  return result;
}

}  // namespace

std::vector<Side> coin_order(std::uint64_t seed, int attempt) {
  base::Rng rng(base::seed_from(seed, "order of pair " + std::to_string(attempt)));
  return rng.coin() ? std::vector{Side::base, Side::candidate}
                    : std::vector{Side::candidate, Side::base};
}

int most_set_aside(const Experiment& experiment) {
  constexpr int kShare = 8;
  const bool is_noise = !experiment.hypothesis && !experiment.merge;
  return is_noise ? 0 : experiment.max_attempts / kShare;
}

std::vector<policies::PairValues> good_pairs(const ExperimentRecord& record) {
  auto run_of = [](const SideOfAttempt& side) {
    return broken(Rule::failed_run_is_no_value) && side.good == nullptr ? side.failed : side.good;
  };
  std::vector<policies::PairValues> pairs;
  int set_aside = 0;
  for (const auto& [number, attempt] : by_attempt(record)) {
    const Run* of_base = run_of(attempt.base);
    const Run* of_candidate = run_of(attempt.candidate);
    if (of_base == nullptr || of_candidate == nullptr) continue;
    auto base = value_of(*of_base, record.experiment.key);
    auto candidate = value_of(*of_candidate, record.experiment.key);
    if (!base || !candidate) continue;
    const bool disturbed =
        !of_base->machine.disturbed.empty() || !of_candidate->machine.disturbed.empty();
    if (disturbed && set_aside < most_set_aside(record.experiment)) {
      ++set_aside;
      continue;
    }
    pairs.push_back({*base, *candidate});
  }
  return pairs;
}

Outcome judge(const ExperimentRecord& record, const hypotheses::Manifest& manifest,
              const JudgeRule& rule) {
  const Experiment& experiment = record.experiment;
  if (experiment.question == Question::builds || experiment.question == Question::correct) {
    return judge_one_sided(record);
  }
  if (is_timeline(manifest, experiment)) return judge_timeline(record);
  const hypotheses::Metric* metric = manifest.metric(experiment.key.metric);
  if (metric == nullptr) {
    return answer(experiment, Verdict::invalid,
                  "no probe of the manifest emits " + experiment.key.metric);
  }
  return judge_pairs(record, *metric, rule);
}

}  // namespace orchestrator
