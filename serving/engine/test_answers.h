// Asking an engine, and reading what it says.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "serving/engine/engine.h"
#include "serving/engine/test_driver.h"

namespace serving {

inline constexpr std::chrono::milliseconds kLong{20000};  // only a failing test waits that long

inline Request request_of(const Job& job) {
  Request request;
  request.prompt = job.prompt;
  request.max_tokens = job.max_tokens;
  request.sampling = job.sampling;
  return request;
}

inline std::unique_ptr<Answer> submit_to(Engine& engine, Request request) {
  auto answer = engine.submit(std::move(request));
  REQUIRE(answer);
  return std::move(*answer);
}

struct Read {
  std::vector<Token> tokens;
  Step last;
};

inline Read read(Answer& answer) {
  Read all;
  for (;;) {
    std::optional<Step> step = answer.next(kLong);
    REQUIRE(step);
    if (step->token) all.tokens.push_back(*step->token);
    all.last = *step;
    if (step->finish != Finish::none) return all;
  }
}

}  // namespace serving
