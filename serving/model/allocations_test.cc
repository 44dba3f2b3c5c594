// A forward takes no memory: everything was taken when the model was made.
#include <atomic>
#include <cstdlib>
#include <new>

#include "serving/model/test_run.h"

using namespace serving;
using namespace serving::model;

namespace {

std::atomic<long> allocations = 0;  // of the whole program, all threads

void* counted(void* memory) {
  ++allocations;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t line) {
  const auto step = std::size_t(line);
  return counted(std::aligned_alloc(step, (size + step - 1) / step * step));
}
// The sanitizers bring one of their own, which our delete would not fit.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }

TEST_CASE("a forward allocates nothing once the logits have their place") {
  const std::string architecture = GENERATE("llama", "kimi-linear");
  ModelSpec spec;
  spec.architecture = architecture;
  spec.dim = 64, spec.head_dim = 32, spec.type = gguf::TensorType::q8_0;
  const MadeModel made(spec);
  DecoderOptions options;
  options.threads = 2;
  options.most_batch_tokens = 32;
  options.cache = {CacheType::f16, 4, 16, 2};
  auto model = make_decoder(made, options);
  const std::vector<Token> tokens(20, 7);
  const std::vector<PageId> one = {0, 1}, two = {2, 3};
  const std::vector<Chunk> prefill = {{tokens, 0, one, 0, true},
                                      {std::span(tokens).first(8), 0, two, 1, true}};
  const std::vector<Chunk> decode = {{std::span(tokens).first(1), 20, one, 0, true},
                                     {std::span(tokens).first(1), 8, two, 1, true}};
  std::vector<float> logits;
  model->forward(prefill, logits);
  const long before = allocations;
  model->forward(prefill, logits);
  model->forward(decode, logits);
  CHECK(allocations - before == 0);
  std::vector<float> counted_too(1000);  // the counter counts
  CHECK(allocations - before > 0);
}
