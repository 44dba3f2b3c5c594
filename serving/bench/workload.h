// What a run asks: conversations of one or more turns in token ids, the same for the same seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serving/bench/arrivals.h"
#include "serving/core/result.h"
#include "serving/model/model.h"

namespace serving::bench {

struct Turn {
  std::vector<Token> input;  // follows what the conversation holds so far
  int output_tokens = 0;
};

struct Conversation {
  double start_s = 0;  // after the start of the run, not before; ascending
  std::vector<Turn> turns;
};

using Workload = std::vector<Conversation>;

struct WorkloadOptions {
  std::string kind = "random";  // random, shared-prefix, multi-turn, replay
  std::uint64_t seed = 0;
  std::size_t requests = 100;  // turns of all conversations together
  int vocabulary = 32000;      // tokens are drawn from its upper 90 %: below lie control tokens
  int input_tokens = 128, output_tokens = 64;
  double range_ratio = 0;   // lengths are uniform in (1 - r) .. (1 + r) times these
  int prefix_tokens = 256;  // shared-prefix, before the input
  int prefixes = 4;         // how many different ones
  int turns = 4;            // multi-turn, of each conversation
  std::string trace;        // replay: the file
  double length_scale = 1;  // replay: of all lengths
  double speed = 1;         // replay: times pass so much faster
  ArrivalOptions arrivals;  // all but replay
};

// bad_input: an option out of its range (named), or a trace that cannot be read.
Result<Workload> make_workload(const WorkloadOptions& options);

}  // namespace serving::bench
