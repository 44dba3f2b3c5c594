#include "serving/model/load_model.h"

#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "serving/model/decoder.h"
#include "serving/tokenizer/make_tokenizer.h"

namespace serving {
namespace {

int usable_processors() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

Result<kernels::matmul::Isa> chosen_isa() {
  try {
    return kernels::matmul::choose_isa(std::getenv("NIGHTSHIFT_ISA"));
  } catch (const std::invalid_argument& error) {
    return fail(ErrorCode::unavailable, std::string("NIGHTSHIFT_ISA: ") + error.what());
  }
}

model::DecoderOptions decoder_options(const LoadOptions& options, kernels::matmul::Isa isa) {
  model::DecoderOptions out;
  out.threads = options.threads > 0 ? options.threads : usable_processors();
  out.pin = options.pin_threads;
  out.most_batch_tokens = options.most_batch_tokens;
  out.most_chunks = options.most_chunks;
  out.cache = {options.cache_type, options.pages, options.page_tokens, options.slots};
  out.isa = isa;
  return out;
}

Result<LoadedModel> load(const std::string& path, const LoadOptions& options) {
  auto isa = chosen_isa();
  if (!isa) return tl::unexpected(isa.error());
  auto file = gguf::File::open(path);
  if (!file) return tl::unexpected(file.error());
  const auto in_file = [&](const Error& error) {
    return tl::unexpected<Error>(Error{error.code, path + ": " + error.message});
  };
  LoadedModel loaded;
  loaded.architecture = file->metadata().text("general.architecture", "").value_or("");
  loaded.name = file->metadata().text("general.name", "").value_or("");
  if (loaded.name.empty()) loaded.name = std::filesystem::path(path).stem();
  auto tokenizer = make_tokenizer(file->metadata());
  if (!tokenizer) return in_file(tokenizer.error());
  loaded.tokenizer = std::move(*tokenizer);
  auto decoder = model::Decoder::make(std::move(*file), decoder_options(options, *isa));
  if (!decoder) return in_file(decoder.error());
  loaded.model = std::move(*decoder);
  if (loaded.tokenizer->vocabulary() != loaded.model->shape().vocabulary) {
    return fail(ErrorCode::bad_input,
                path + ": the tokenizer has " + std::to_string(loaded.tokenizer->vocabulary()) +
                    " tokens, the embedding " + std::to_string(loaded.model->shape().vocabulary));
  }
  return loaded;
}

}  // namespace

Result<LoadedModel> load_model(const std::string& path, const LoadOptions& options) {
  try {
    return load(path, options);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::too_large, path + ": no memory for the weights, " +
                                          std::to_string(options.pages) + " pages and " +
                                          std::to_string(options.slots) +
                                          " slots; ask for fewer, or a smaller batch");
  }
}

}  // namespace serving
