// A stated workload, served by the engine inside this process: what a launch configuration does to
// throughput and waiting, without HTTP in between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serving/core/result.h"
#include "serving/engine/make_engine.h"
#include "serving/model/load_model.h"

namespace serving::probe {

// Requests in a closed loop: so many are always under way. Prompts are random tokens behind a
// prefix that all of them share; answers are greedy and of a fixed length.
struct Workload {
  int requests = 48;
  int in_flight = 16;
  int shared_tokens = 64;  // of every prompt, the same
  int prompt_tokens = 64;  // of every prompt, its own
  int answer_tokens = 32;
  std::uint64_t seed = 1;
};

struct Launch {
  LoadOptions load;
  EngineOptions engine;
};

struct Outcome {
  double wall_s = 0;
  std::vector<double> first_token_ms;       // of each request, from its submission
  std::vector<std::vector<Token>> answers;  // of each request
  EngineStats stats;
};

// Errors: those of load_model, check_options and Engine::submit; bad_input where an answer fails.
Result<Outcome> serve(const std::string& model_path, const Launch& launch,
                      const Workload& workload);

}  // namespace serving::probe
