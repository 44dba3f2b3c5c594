// The engine that batches continuously over a model, and how it may be set.
#pragma once

#include <memory>

#include "serving/core/result.h"
#include "serving/engine/engine.h"
#include "serving/model/model.h"

namespace serving {

// How the tokens of a step that decoding leaves are divided among prompts.
enum class Policy {
  fcfs,  // first come, first served: the oldest prompt takes all that it can
  fair,  // equal shares; what a short prompt leaves of its share goes to the longer ones
};

struct EngineOptions {
  int max_batch_tokens = 512;  // tokens a step; at least max_running, so that all can decode
  int max_running = 16;        // requests in a batch
  int queue_limit = 64;        // requests accepted beyond max_running; more are overloaded
  int chunk_tokens = 256;      // of one prompt in a step
  Policy policy = Policy::fair;
  bool prefix_cache = true;
  // Models with recurrent state: a checkpoint of it every so many pages of a prompt; 0: only at the
  // end of prompts and answers.
  int checkpoint_every_pages = 32;
};

// bad_input: an option is out of its range for that model; the message names it.
Status check_options(const EngineOptions& options, const ModelShape& shape);

// `check_options` must have passed. The engine's thread ends with the engine, and answers every
// request.
std::unique_ptr<Engine> make_engine(std::unique_ptr<Model> model, const EngineOptions& options);

}  // namespace serving
