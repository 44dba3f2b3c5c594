// From a file to all that serving it needs.
#pragma once

#include <memory>
#include <string>

#include "serving/core/result.h"
#include "serving/model/cache_options.h"
#include "serving/model/model.h"
#include "serving/tokenizer/tokenizer.h"

namespace serving {

struct LoadOptions {
  int threads = 0;  // 0: as many as this process may use processors
  bool pin_threads = false;
  int pages = 1024;
  int page_tokens = 16;  // multiple of 16
  int slots = 64;        // for models that have recurrent states
  model::CacheType cache_type = model::CacheType::f32;
  int most_batch_tokens = 512;  // of one forward
  int most_chunks = 64;         // of one forward
};

struct LoadedModel {
  std::unique_ptr<Model> model;
  std::unique_ptr<Tokenizer> tokenizer;  // knows the chat template too
  std::string name;                      // of the file's general.name, or its file name
  std::string architecture;
};

// Errors: not_found, bad_input (the file, or an option), too_large (no memory for the caches),
// unavailable (NIGHTSHIFT_ISA names what this machine lacks), io.
Result<LoadedModel> load_model(const std::string& path, const LoadOptions& options);

}  // namespace serving
