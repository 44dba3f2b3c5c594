// What a sequence gets does not depend on how it was computed: bit for bit.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "serving/model/test_run.h"

using namespace serving;
using namespace serving::model;

namespace {

constexpr int kPages = 40, kSlots = 7, kLength = 75;

DecoderOptions options_of(int threads, CacheType cache, int page_tokens = 16) {
  DecoderOptions options;
  options.threads = threads;
  options.most_batch_tokens = 256;
  options.most_chunks = 8;
  options.cache = {cache, kPages, page_tokens, kSlots};
  options.isa = kernels::matmul::choose_isa(std::getenv("NIGHTSHIFT_ISA"));
  return options;
}

using Rows = std::vector<std::vector<float>>;  // logits by position; empty where nobody asked

// Fills every page and slot with NaN, by a sequence of nothing but the poisoned token.
void soil(Model& model, Token poison) {
  const int page_tokens = model.shape().page_tokens;
  for (int page = 0; page < kPages; ++page) {
    const std::vector<Token> tokens(std::size_t(page_tokens), poison);
    std::vector<Running> other = {{tokens, {page}, SlotId(page % kSlots), 0}};
    model.reset_slot(other[0].slot);
    const auto logits = advance(model, other, {page_tokens});
    REQUIRE(std::isnan(logits[0][0]));
  }
}

// One after the other, each in a forward of its own: what all else is compared with.
Rows one_by_one(Model& model, const std::vector<Token>& tokens) {
  std::vector<PageId> pages(kPages);
  std::iota(pages.begin(), pages.end(), 0);
  std::vector<Running> one = {{tokens, pages, 0, 0}};
  model.reset_slot(0);
  Rows rows;
  for (std::size_t i = 0; i < tokens.size(); ++i) rows.push_back(advance(model, one, {1})[0]);
  return rows;
}

// Several sequences in random steps and random company, on shuffled pages.
void check_mixed(Model& model, const std::vector<std::vector<Token>>& sequences,
                 const std::vector<Rows>& expected, std::mt19937& random) {
  std::vector<PageId> pages(kPages);
  std::iota(pages.begin(), pages.end(), 0);
  std::shuffle(pages.begin(), pages.end(), random);
  const int page_tokens = model.shape().page_tokens;
  const int share = (kLength + page_tokens - 1) / page_tokens;
  std::vector<Running> running;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto first = pages.begin() + std::ptrdiff_t(i) * share;
    running.push_back({sequences[i], {first, first + share}, SlotId(kSlots - 1 - i), 0});
    model.reset_slot(running.back().slot);
  }
  const auto left = [](const Running& r) { return int(r.tokens.size()) - r.done; };
  while (std::any_of(running.begin(), running.end(), [&](auto& r) { return left(r) > 0; })) {
    std::vector<int> counts;
    for (const Running& r : running) {
      const int wanted = random() % 3 == 0 ? 0 : random() % 2 ? 1 : int(random() % 40);
      counts.push_back(std::min(wanted, left(r)));
    }
    if (std::all_of(counts.begin(), counts.end(), [](int c) { return c == 0; })) continue;
    const auto rows = advance(model, running, counts);
    std::size_t row = 0;
    for (std::size_t i = 0; i < running.size(); ++i) {
      if (counts[i] == 0) continue;
      INFO("sequence " << i << ", position " << running[i].done - 1);
      REQUIRE(rows[row++] == expected[i][running[i].done - 1]);
    }
  }
}

ModelSpec spec_of(const std::string& architecture, gguf::TensorType type, unsigned seed) {
  ModelSpec spec;
  spec.architecture = architecture;
  spec.type = type;
  spec.seed = seed;
  spec.dim = 96, spec.layers = 3, spec.heads = 4, spec.kv_heads = 2, spec.head_dim = 32;
  spec.ffn = 160, spec.vocabulary = 300, spec.mla_every = 2, spec.kv_rank = 32;
  spec.expert_ffn = 64, spec.experts = 6;
  return spec;
}

}  // namespace

TEST_CASE("chunks, company, pages and threads change no bit") {
  const std::string architecture = GENERATE("llama", "kimi-linear");
  const auto type = GENERATE(gguf::TensorType::f32, gguf::TensorType::f16, gguf::TensorType::bf16,
                             gguf::TensorType::q8_0);
  const auto cache = type == gguf::TensorType::f16    ? CacheType::f16
                     : type == gguf::TensorType::q8_0 ? CacheType::i8
                                                      : CacheType::f32;
  const unsigned seed = 61;
  INFO("seed " << seed << " " << architecture << " " << gguf::name(type));
  std::mt19937 random(seed);
  MadeModel made(spec_of(architecture, type, seed));
  const Token poison = made.spec().vocabulary - 1;
  made.poison(poison);
  std::vector<std::vector<Token>> sequences;
  std::vector<Rows> expected;
  auto alone = make_decoder(made, options_of(1, cache));
  for (int i = 0; i < 4; ++i) {
    sequences.push_back(random_tokens(kLength - 9 * i, poison, random));
    expected.push_back(one_by_one(*alone, sequences.back()));
  }
  for (int threads : {1, 3}) {
    auto model = make_decoder(made, options_of(threads, cache, threads == 1 ? 16 : 48));
    soil(*model, poison);
    for (int round = 0; round < 3; ++round) check_mixed(*model, sequences, expected, random);
  }
}

TEST_CASE("a copied slot and copied pages go on as the original would") {
  const unsigned seed = 62;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  MadeModel made(spec_of("kimi-linear", gguf::TensorType::f32, seed));
  const Token poison = made.spec().vocabulary - 1;
  made.poison(poison);
  auto model = make_decoder(made, options_of(2, CacheType::f32));
  soil(*model, poison);
  const auto tokens = random_tokens(60, poison, random);
  const Rows expected = one_by_one(*model, tokens);
  for (int cut : {1, 15, 16, 17, 37}) {
    INFO("cut after " << cut);
    std::vector<Running> first = {{tokens, {30, 31, 32, 33}, 3, 0}};
    model->reset_slot(3);
    advance(*model, first, {cut});
    std::vector<Running> second = {{tokens, {20, 21, 22, 23}, 5, cut}};
    for (int i = 0; i < 4; ++i) model->copy_page(30 + i, 20 + i);
    model->copy_slot(3, 5);
    // The original goes elsewhere meanwhile.
    first[0].tokens[cut] = (first[0].tokens[cut] + 1) % poison;
    advance(*model, first, {60 - cut});
    REQUIRE(advance(*model, second, {60 - cut})[0] == expected.back());
  }
}

TEST_CASE("rows come for those who want them only") {
  const MadeModel made(spec_of("llama", gguf::TensorType::f32, 63));
  auto model = make_decoder(made, options_of(1, CacheType::f32));
  const std::vector<Token> tokens = {5, 6, 7};
  const std::vector<PageId> a = {0}, b = {1};
  std::vector<float> both, second;
  const Chunk quiet{std::span(tokens).first(2), 0, a, -1, false};
  const Chunk wanting{tokens, 0, b, -1, true};
  model->forward(std::vector<Chunk>{quiet, wanting}, both);
  model->forward(std::vector<Chunk>{wanting}, second);
  CHECK(both.size() == std::size_t(made.spec().vocabulary));
  CHECK(both == second);
  model->forward(std::vector<Chunk>{quiet}, both);
  CHECK(both.empty());
}
