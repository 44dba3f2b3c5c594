// Loads damaged files, one after another, as a server would: every one must be refused with a
// message or be usable. Built with the sanitizers it finds reads out of bounds too.
//   gguf_fuzz --seconds 60 --seed 1 [--first CASE]
// A case depends on the seed and its number alone; the numbers are printed as they pass.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "serving/core/clock.h"
#include "serving/model/decoder.h"
#include "serving/model/make_model.h"
#include "serving/tokenizer/make_tokenizer.h"

namespace serving::model {
namespace {

std::string made_bytes(const char* architecture, gguf::TensorType type) {
  ModelSpec spec;
  spec.architecture = architecture;
  spec.type = type;
  spec.dim = 32, spec.layers = 2, spec.heads = 2, spec.kv_heads = 1, spec.head_dim = 16;
  spec.ffn = 32, spec.vocabulary = 270, spec.mla_every = 2, spec.kv_rank = 32, spec.nope_dim = 32;
  spec.experts = 2, spec.experts_used = 1, spec.expert_ffn = 32;
  std::ostringstream out;
  return make_model(spec, out) ? std::move(out).str() : std::string();
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : random_() % n; }

  void damage(std::string& bytes) {
    for (auto times = 1 + below(4); times > 0 && !bytes.empty(); --times) once(bytes);
  }

 private:
  // Headers are small and hold all the structure: most damage goes there.
  std::size_t place(const std::string& bytes) {
    const std::size_t reach =
        below(8) == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 12000);
    return below(4) == 0 ? below(std::min<std::size_t>(reach, 64)) : below(reach);
  }

  void once(std::string& bytes) {
    const std::size_t at = place(bytes);
    switch (below(6)) {
      case 0:
        bytes[at] = char(random_());
        break;
      case 1:
        bytes[at] = char(bytes[at] ^ (1 << below(8)));
        break;
      case 2:
        overwrite(bytes, at);
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.erase(at, below(16));
        break;
      case 5:
        bytes.insert(at, bytes.substr(below(bytes.size()), below(64)));
        break;
    }
  }

  // With numbers at which arithmetic goes wrong.
  void overwrite(std::string& bytes, std::size_t at) {
    constexpr std::uint64_t numbers[] = {0,          1,          31,         33,
                                         1u << 31,   ~0ull,      ~0ull >> 1, 1ull << 32,
                                         1ull << 62, 0x7fffffff, 0xffffffff, 0x7ff0000000000000};
    const std::uint64_t number = numbers[below(std::size(numbers))];
    const std::size_t size = std::min<std::size_t>(below(2) ? 8 : 4, bytes.size() - at);
    std::memcpy(&bytes[at], &number, size);
  }

  std::mt19937_64 random_;
};

struct Counts {
  std::uint64_t cases = 0, refused = 0, ran = 0;
};

// A refusal without words would leave its reader helpless.
void refused(const Error& error, Counts& counts) {
  if (error.message.empty()) std::abort();
  ++counts.refused;
}

void use(const std::string& bytes, Counts& counts) {
  auto file = gguf::File::parse(std::as_bytes(std::span(bytes)));
  if (!file) return refused(file.error(), counts);
  auto tokenizer = make_tokenizer(file->metadata());
  if (!tokenizer) return refused(tokenizer.error(), counts);
  const auto tokens = (*tokenizer)->encode("to be \xF0\x9F\x98\x80</s>", true, true);
  auto text = (*tokenizer)->decoder();
  for (Token token : tokens) text->add(token);
  DecoderOptions options;
  options.most_batch_tokens = 4;
  options.cache = {CacheType::f32, 1, 16, 1};
  auto decoder = Decoder::make(std::move(*file), options);
  if (!decoder) return refused(decoder.error(), counts);
  std::vector<float> logits;
  const std::vector<Token> some = {0, Token((*decoder)->shape().vocabulary - 1)};
  const std::vector<PageId> pages = {0};
  const Chunk chunk{some, 0, pages, 0, true};
  (*decoder)->reset_slot(0);
  (*decoder)->forward(std::span(&chunk, 1), logits);
  if (logits.size() != std::size_t((*decoder)->shape().vocabulary)) std::abort();
  ++counts.ran;
}

int fuzz(double seconds, std::uint64_t seed, std::uint64_t first) {
  const std::string wholes[] = {made_bytes("llama", gguf::TensorType::f32),
                                made_bytes("kimi-linear", gguf::TensorType::q8_0),
                                made_bytes("qwen2", gguf::TensorType::bf16)};
  Counts counts;
  for (const std::string& whole : wholes) use(whole, counts);
  if (counts.ran != std::size(wholes)) {
    std::cerr << "gguf_fuzz: an undamaged file was refused\n";
    return 1;
  }
  std::cout << "gguf_fuzz: seed " << seed << ", first case " << first << std::endl;
  const std::int64_t end = now_ns() + std::int64_t(seconds * 1e9);
  std::uint64_t number = first;
  for (; now_ns() < end; ++number) {
    if (number % 1000 == 0) std::cout << "case " << number << std::endl;
    Mutator mutator(seed * 0x9e3779b97f4a7c15u + number);
    std::string bytes = wholes[mutator.below(std::size(wholes))];
    mutator.damage(bytes);
    use(bytes, counts);
  }
  counts.cases = number - first;
  std::cout << counts.cases << " damaged files: " << counts.refused << " refused, "
            << counts.ran - std::size(wholes) << " usable\n";
  return 0;
}

}  // namespace
}  // namespace serving::model

int main(int argc, char** argv) {
  double seconds = 5;
  std::uint64_t seed = 1, first = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--seconds") {
      seconds = std::strtod(argv[i + 1], nullptr);
    } else if (option == "--seed") {
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (option == "--first") {
      first = std::strtoull(argv[i + 1], nullptr, 10);
    } else {
      argc = 0;
    }
  }
  if (argc % 2 == 0) {
    std::cerr << "usage: gguf_fuzz [--seconds N] [--seed N] [--first CASE]\n";
    return 2;
  }
  return serving::model::fuzz(seconds, seed, first);
}
