// The tables of docs/statistics.md, as text; aa_rates prints them. Everything is simulated from one
// seed, each table and noise with a stream of its own, so a table does not change when another one
// does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "policies/policy.h"
#include "policies/trial.h"

namespace policies {

// A noise on which things are tried.
struct Subject {
  std::string name;
  std::function<Machine()> machine;  // a fresh one
  double noise = 0;                  // robust s.d. of the log-ratio of a pair of equals
  int recorded = 0;                  // pairs of the recording; 0 = synthetic
};

// Normal, outliers, Student's t2, drift with a warm second run, AR(1), a neighbour that comes and
// goes.
std::vector<Subject> synthetic_subjects();
// One recording of a real machine, replayed in blocks of pairs.
Subject recorded_subject(std::string name, const std::string& text, int block, std::string& error);

struct RateOptions {
  std::uint64_t seed = 20261201;
  int trials = 20'000;       // of each error rate; a quarter of that for those at the edges
  int power_trials = 2'000;  // of each power and number of pairs
  int campaigns = 1'000;
  Policy policy;
};
base::Rng stream(const RateOptions& options, std::string_view table, std::string_view subject);

// Upper end of the one-sided 95% Clopper-Pearson interval, as "1.23%"; and the share itself.
double upper_bound(int successes, int trials);
std::string rate_text(int successes, int trials);  // "1.21% (1.35%)"
std::string percent2(double share);                // "1.21%"
double quantile(std::vector<double> x, double q);

// A table and whether all bounds in it hold.
struct Table {
  std::string text;
  bool holds = true;
};

Table verdict_table(const std::vector<Subject>& subjects, const RateOptions& options);
Table edge_table(const std::vector<Subject>& subjects, const RateOptions& options);
Table coverage_table(const std::vector<Subject>& subjects, const RateOptions& options);
Table campaign_table(const std::vector<Subject>& subjects, const RateOptions& options);
Table discovery_table(const RateOptions& options);
Table failure_table(const RateOptions& options);
Table classic_error_table(const std::vector<Subject>& subjects, const RateOptions& options);
Table power_table(const std::vector<Subject>& subjects, const RateOptions& options);
Table gain_table(const std::vector<Subject>& subjects, const RateOptions& options);
Table pairs_table(const std::vector<Subject>& subjects, const RateOptions& options);
Table change_point_table(const RateOptions& options);
std::string timing_table();  // of this machine, now

}  // namespace policies
