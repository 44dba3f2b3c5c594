#include <string>

#include "serving/engine/make_engine.h"

namespace serving {
namespace {

Status at_least(const char* name, int value, int least) {
  if (value >= least) return {};
  return fail(ErrorCode::bad_input, std::string(name) + " is " + std::to_string(value) +
                                        "; it must be at least " + std::to_string(least));
}

}  // namespace

Status check_options(const EngineOptions& options, const ModelShape& shape) {
  Status status = at_least("max_running", options.max_running, 1);
  if (status) status = at_least("chunk_tokens", options.chunk_tokens, 1);
  if (status) status = at_least("queue_limit", options.queue_limit, 0);
  if (status) status = at_least("checkpoint_every_pages", options.checkpoint_every_pages, 0);
  if (status) {  // so that every running request can decode in every step
    status = at_least("max_batch_tokens", options.max_batch_tokens, options.max_running);
  }
  if (status && shape.has_pages) status = at_least("the number of pages", shape.pages, 1);
  if (status && shape.has_state) status = at_least("the number of state slots", shape.slots, 1);
  return status;
}

}  // namespace serving
