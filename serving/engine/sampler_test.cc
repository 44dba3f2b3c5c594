#include "serving/engine/sampler.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace serving {
namespace {

const std::vector<float> kLogits = {1, 3, 2, 3, -1};  // 1 and 3 tie
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::map<Token, double> frequencies(const Sampling& sampling, int draws) {
  Sampler sampler;
  std::map<Token, double> seen;
  for (int i = 0; i < draws; ++i) {
    seen[sampler.choose(kLogits, sampling, static_cast<std::uint64_t>(i))->token] += 1.0 / draws;
  }
  return seen;
}

TEST_CASE("greedy takes the largest, of equals the smaller id") {
  Sampler sampler;
  CHECK(sampler.choose(kLogits, {.temperature = 0}, 0)->token == 1);
  const std::vector<bool> allowed = {true, false, true, false, true};
  CHECK(sampler.choose(kLogits, {.temperature = 0}, 0, &allowed)->token == 2);
}

TEST_CASE("tokens come as often as their probability says") {
  const int draws = 40000;  // one standard deviation is at most 0.0025
  for (const float temperature : {0.5F, 1.0F, 3.0F}) {
    double total = 0;
    for (const float logit : kLogits) total += std::exp(logit / temperature);
    const auto seen = frequencies({.temperature = temperature, .seed = 3}, draws);
    for (std::size_t i = 0; i < kLogits.size(); ++i) {
      const auto found = seen.find(static_cast<Token>(i));
      const double frequency = found == seen.end() ? 0 : found->second;
      CHECK(std::abs(frequency - std::exp(kLogits[i] / temperature) / total) < 0.012);
    }
  }
}

TEST_CASE("top_k keeps the k most likely") {
  const auto seen = frequencies({.temperature = 1, .top_k = 3, .seed = 4}, 4000);
  std::set<Token> tokens;
  for (const auto& [token, frequency] : seen) tokens.insert(token);
  CHECK(tokens == std::set<Token>{1, 2, 3});
}

TEST_CASE("top_p keeps the fewest tokens that reach it") {
  // Probabilities: 0.397, 0.397, 0.146, 0.054, 0.007
  const auto tokens_at = [](float top_p) {
    std::set<Token> tokens;
    for (const auto& [token, _] :
         frequencies({.temperature = 1, .top_p = top_p, .seed = 5}, 4000)) {
      tokens.insert(token);
    }
    return tokens;
  };
  CHECK(tokens_at(0.39F) == std::set<Token>{1});
  CHECK(tokens_at(0.41F) == std::set<Token>{1, 3});
  CHECK(tokens_at(0.80F) == std::set<Token>{1, 2, 3});
  CHECK(tokens_at(0.95F) == std::set<Token>{0, 1, 2, 3});
}

TEST_CASE("top_p over a flat distribution of many tokens keeps that share of them") {
  std::vector<float> flat(1000, 0.0F);
  Sampler sampler;
  std::set<Token> tokens;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    tokens.insert(sampler.choose(flat, {.temperature = 1, .top_p = 0.3F, .seed = 6}, i)->token);
  }
  CHECK(tokens.size() >= 299);
  CHECK(*tokens.rbegin() <= 300);
}

TEST_CASE("the draw depends on seed and place alone") {
  const Sampling sampling = {.temperature = 1, .seed = 9};
  Sampler fresh, used;
  for (std::uint64_t i = 0; i < 50; ++i) used.choose(kLogits, {.temperature = 2, .seed = i}, i);
  std::set<Token> tokens;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Token token = fresh.choose(kLogits, sampling, i)->token;
    CHECK(token == used.choose(kLogits, sampling, i)->token);
    tokens.insert(token);
  }
  CHECK(tokens.size() > 2);
  CHECK(uniform(1, 0) != uniform(2, 0));
  CHECK(uniform(1, 0) != uniform(1, 1));
  CHECK(uniform(1, 2) != uniform(2, 1));
}

TEST_CASE("log-probabilities are the model's own, before temperature, cuts and what is allowed") {
  Sampler sampler;
  const std::vector<bool> allowed = {false, false, false, false, true};
  const Sampling sampling = {.temperature = 0.1F, .top_k = 1, .top_logprobs = 3};
  const auto choice = sampler.choose(kLogits, sampling, 0, &allowed);
  double total = 0;
  for (const float logit : kLogits) total += std::exp(logit);
  CHECK(choice->token == 4);
  CHECK(choice->logprob == Approx(-1 - std::log(total)));
  REQUIRE(choice->top.size() == 3);
  CHECK(choice->top[0].token == 1);
  CHECK(choice->top[1].token == 3);
  CHECK(choice->top[2].token == 2);
  CHECK(choice->top[2].logprob == Approx(2 - std::log(total)));
  CHECK(sampler.choose(kLogits, {.temperature = 0, .top_logprobs = 0}, 0)->top.empty());
  CHECK(sampler.choose(kLogits, {.temperature = 0, .top_logprobs = 99}, 0)->top.size() == 5);
}

TEST_CASE("what is no number or impossible never comes, and nothing left is said so") {
  Sampler sampler;
  const std::vector<float> broken = {NAN, -kInfinity, NAN, 0};
  for (std::uint64_t i = 0; i < 20; ++i) {
    CHECK(sampler.choose(broken, {.temperature = 1}, i)->token == 3);
  }
  CHECK(!sampler.choose(std::vector<float>{NAN, NAN}, {.temperature = 0}, 0));
  const std::vector<bool> none(5, false);
  CHECK(!sampler.choose(kLogits, {.temperature = 1}, 0, &none));
}

TEST_CASE("a tiny temperature is greedy, and draws nothing impossible") {
  Sampler sampler;
  const std::vector<float> logits = {0, 5, 4};
  for (std::uint64_t i = 0; i < 100; ++i) {
    CHECK(sampler.choose(logits, {.temperature = 1e-30F, .seed = i}, i)->token == 1);
  }
}

TEST_CASE("values out of range are refused by name") {
  CHECK(check_sampling({}));
  CHECK(check_sampling({.temperature = 0, .top_p = 0.5F, .top_k = 4}));
  CHECK(check_sampling({.temperature = -1}).error().message.find("temperature") == 0);
  CHECK(check_sampling({.temperature = NAN}).error().message.find("temperature") == 0);
  CHECK(check_sampling({.temperature = kInfinity}).error().message.find("temperature") == 0);
  CHECK(check_sampling({.top_p = 0}).error().message.find("top_p") == 0);
  CHECK(check_sampling({.top_p = 1.5F}).error().message.find("top_p") == 0);
  CHECK(check_sampling({.top_k = -1}).error().message.find("top_k") == 0);
}

}  // namespace
}  // namespace serving
