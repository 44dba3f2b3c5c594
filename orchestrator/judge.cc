#include "orchestrator/judge.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "base/rng.h"
#include "orchestrator/broken_rule.h"
#include "orchestrator/timelines.h"

namespace orchestrator {

using hypotheses::Answer;
using hypotheses::Experiment;
using hypotheses::Question;
using hypotheses::Run;
using hypotheses::RunOutcome;
using hypotheses::Side;
using hypotheses::Verdict;

namespace {

// A side that fails this often while the other one runs is at fault itself, not the weather.
constexpr int kFailuresThatCount = 2;

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

// Builds and correct: the candidate alone. Where it fails the base is asked too, since what the
// base fails as well is no news about the candidate.
Outcome judge_one_sided(const ExperimentRecord& record) {
  const Experiment& experiment = record.experiment;
  const Run* candidate = last_run(record, Side::candidate);
  if (candidate == nullptr) return NextAttempt{{Side::candidate}};
  if (candidate->outcome == RunOutcome::ok) {
    std::string what = experiment.question == Question::builds ? "builds" : "passes its check";
    return answer(experiment, Verdict::supported,
                  fmt::format("{} ({:.1f} s)", what, candidate->wall_s));
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

struct SideFailures {
  int base = 0, candidate = 0;
  const Run* last_base = nullptr;
  const Run* last_candidate = nullptr;
};

// The candidate is not blamed for an attempt in which the base failed too.
SideFailures count_failures(const ExperimentRecord& record) {
  SideFailures failures;
  auto failed = [](const Run& run) {
    return run.outcome != RunOutcome::ok && run.outcome != RunOutcome::lost;
  };
  std::set<int> base_failed;
  for (const Run& run : record.runs) {
    if (run.side == Side::base && failed(run)) base_failed.insert(run.attempt);
  }
  for (const Run& run : record.runs) {
    if (!failed(run)) continue;
    if (run.side == Side::candidate && base_failed.count(run.attempt) != 0) continue;
    if (run.side == Side::base) {
      ++failures.base;
      failures.last_base = &run;
    } else {
      ++failures.candidate;
      failures.last_candidate = &run;
    }
  }
  return failures;
}

// A failed build ends a comparison at once; a failed run does when it repeats.
std::optional<Answer> judge_failures(const ExperimentRecord& record) {
  const Experiment& experiment = record.experiment;
  if (const Run* run = find_run(record, Side::base, RunOutcome::build_failed)) {
    return answer(experiment, Verdict::invalid, "the base does not build: " + run->detail);
  }
  if (const Run* run = find_run(record, Side::candidate, RunOutcome::build_failed)) {
    return answer(experiment, Verdict::refuted, "does not build: " + run->detail);
  }
  SideFailures failures = count_failures(record);
  if (failures.base >= kFailuresThatCount) {
    return answer(experiment, Verdict::invalid,
                  "the probe fails on the base: " + told(*failures.last_base));
  }
  if (failures.candidate >= kFailuresThatCount) {
    return answer(experiment, Verdict::refuted,
                  fmt::format("the candidate failed {} times where the base ran: {}",
                              failures.candidate, told(*failures.last_candidate)));
  }
  return {};
}

Answer judge_noise(const Experiment& experiment, const hypotheses::Evidence& evidence,
                   const policies::EvidenceRule& rule) {
  double larger = std::max(evidence.e_better, evidence.e_worse);
  if (larger >= 2 / rule.alpha) {
    return answer(
        experiment, Verdict::invalid,
        fmt::format("the same commit differs from itself on this machine: {} (e = {:.0f})",
                    effect_text(evidence), larger));
  }
  return answer(
      experiment, Verdict::no_difference,
      fmt::format("noise {:.1f}% a pair over {} A/A pairs", 100 * evidence.noise, evidence.pairs));
}

Outcome judge_pairs(const ExperimentRecord& record, const hypotheses::Metric& metric,
                    const JudgeRule& rule) {
  const Experiment& experiment = record.experiment;
  if (auto failed = judge_failures(record)) return *failed;
  auto evidence = policies::weigh(good_pairs(record), experiment.key, metric, rule.evidence.alpha,
                                  rule.noise, rule.evidence.implausible_ratio);
  std::optional<policies::Judgement> judgement;
  if (rule.is_noise) {
    if (record.attempts >= experiment.max_attempts) {
      Answer result = judge_noise(experiment, evidence, rule.evidence);
      result.evidence = evidence;
      return result;
    }
  } else if (experiment.question == Question::guards) {
    judgement = policies::judge_guard(evidence, rule.guard_margin, rule.evidence, metric.exact,
                                      record.attempts);
  } else if (rule.level > 0) {
    judgement = policies::judge_confirmation(evidence, rule.level, rule.evidence, metric.exact,
                                             record.attempts);
  } else {
    judgement = policies::judge_gain(evidence, rule.evidence, metric.exact, record.attempts);
  }
  if (broken(Rule::evidence_decides) && evidence.effect > 0) judgement = {Verdict::supported, "so"};
  if (!judgement) return NextAttempt{coin_order(experiment.seed, record.attempts)};
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

std::optional<double> value_of(const Run& run, const hypotheses::MetricKey& key) {
  for (const auto& observation : run.observations) {
    if (observation.key == key) return observation.value;
  }
  return {};
}

}  // namespace

std::vector<Side> coin_order(std::uint64_t seed, int attempt) {
  base::Rng rng(base::seed_from(seed, "order of pair " + std::to_string(attempt)));
  return rng.coin() ? std::vector{Side::base, Side::candidate}
                    : std::vector{Side::candidate, Side::base};
}

std::vector<policies::PairValues> good_pairs(const ExperimentRecord& record) {
  std::map<int, std::pair<const Run*, const Run*>> by_attempt;
  for (const Run& run : record.runs) {
    bool good = run.outcome == RunOutcome::ok || broken(Rule::failed_run_is_no_value);
    if (!run.measured || !good) continue;
    auto& [base, candidate] = by_attempt[run.attempt];
    (run.side == Side::base ? base : candidate) = &run;
  }
  std::vector<policies::PairValues> pairs;
  for (const auto& [attempt, runs] : by_attempt) {
    if (runs.first == nullptr || runs.second == nullptr) continue;
    auto base = value_of(*runs.first, record.experiment.key);
    auto candidate = value_of(*runs.second, record.experiment.key);
    if (base && candidate) pairs.push_back({*base, *candidate});
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
