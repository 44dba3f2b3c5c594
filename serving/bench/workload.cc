#include "serving/bench/workload.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "serving/bench/trace_file.h"

namespace serving::bench {
namespace {

class Draw {
 public:
  explicit Draw(const WorkloadOptions& options) : options_(options), random_(options.seed) {}

  std::vector<Token> tokens(int count) { return tokens(count, random_); }
  // The same for the same `name`, whatever was drawn before.
  std::vector<Token> named_tokens(int count, std::uint64_t name) const {
    std::seed_seq seeds{options_.seed, options_.seed >> 32, name, name >> 32};
    std::mt19937_64 random(seeds);
    return tokens(count, random);
  }
  int length(int mean) {
    const double spread = options_.range_ratio * mean;
    std::uniform_int_distribution<int> lengths(static_cast<int>(std::ceil(mean - spread)),
                                               static_cast<int>(mean + spread));
    return std::max(1, lengths(random_));
  }
  std::size_t index(std::size_t count) { return random_() % count; }
  std::mt19937_64& random() { return random_; }

 private:
  std::vector<Token> tokens(int count, std::mt19937_64& random) const {
    std::uniform_int_distribution<Token> ids(options_.vocabulary / 10, options_.vocabulary - 1);
    std::vector<Token> list(static_cast<std::size_t>(count));
    for (Token& token : list) token = ids(random);
    return list;
  }

  const WorkloadOptions& options_;
  std::mt19937_64 random_;
};

void append(std::vector<Token>& to, const std::vector<Token>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

Workload random_requests(const WorkloadOptions& options, Draw& draw) {
  Workload workload(options.requests);
  for (Conversation& one : workload) {
    Turn turn{draw.tokens(draw.length(options.input_tokens)), draw.length(options.output_tokens)};
    one.turns.push_back(std::move(turn));
  }
  return workload;
}

Workload shared_prefix(const WorkloadOptions& options, Draw& draw) {
  Workload workload(options.requests);
  for (Conversation& one : workload) {
    Turn turn;
    turn.input = draw.named_tokens(options.prefix_tokens,
                                   draw.index(static_cast<std::size_t>(options.prefixes)));
    append(turn.input, draw.tokens(draw.length(options.input_tokens)));
    turn.output_tokens = draw.length(options.output_tokens);
    one.turns.push_back(std::move(turn));
  }
  return workload;
}

Workload multi_turn(const WorkloadOptions& options, Draw& draw) {
  Workload workload;
  for (std::size_t made = 0; made < options.requests; ++made) {
    if (made % static_cast<std::size_t>(options.turns) == 0) workload.emplace_back();
    workload.back().turns.push_back(
        {draw.tokens(draw.length(options.input_tokens)), draw.length(options.output_tokens)});
  }
  return workload;
}

// Blocks become shorter with the lengths, so that what is shared stays the same share.
Workload replay(const WorkloadOptions& options, Draw& draw, const std::vector<TraceEntry>& trace) {
  const auto scaled = [&](int tokens) {
    return std::max(1, static_cast<int>(std::lround(tokens * options.length_scale)));
  };
  const int block_tokens = scaled(kTraceBlockTokens);
  Workload workload;
  for (const TraceEntry& entry : trace) {
    const auto input = static_cast<std::size_t>(scaled(entry.input_tokens));
    Turn turn;
    for (std::int64_t block : entry.blocks) {
      if (turn.input.size() >= input) break;
      append(turn.input, draw.named_tokens(block_tokens, static_cast<std::uint64_t>(block)));
    }
    if (turn.input.size() < input) {
      append(turn.input, draw.tokens(static_cast<int>(input - turn.input.size())));
    }
    turn.input.resize(input);
    turn.output_tokens = scaled(entry.output_tokens);
    workload.push_back({entry.at_s / options.speed, {std::move(turn)}});
  }
  return workload;
}

Status check(const WorkloadOptions& options) {
  const auto positive = [](double value, const char* name) -> Status {
    if (value > 0) return {};
    return fail(ErrorCode::bad_input, std::string(name) + " must be more than 0");
  };
  for (const auto& [value, name] : std::initializer_list<std::pair<double, const char*>>{
           {static_cast<double>(options.requests), "--num-prompts"},
           {options.input_tokens, "--input-len"},
           {options.output_tokens, "--output-len"},
           {options.prefix_tokens, "--prefix-len"},
           {options.prefixes, "--prefixes"},
           {options.turns, "--turns"},
           {options.length_scale, "--length-scale"},
           {options.speed, "--speed"},
           {options.arrivals.burstiness, "--burstiness"}}) {
    if (auto checked = positive(value, name); !checked) return checked;
  }
  if (options.vocabulary < 10)
    return fail(ErrorCode::bad_input, "--vocabulary must be at least 10");
  if (options.range_ratio < 0 || options.range_ratio >= 1) {
    return fail(ErrorCode::bad_input, "--range-ratio must be from 0 to below 1");
  }
  return {};
}

}  // namespace

Result<Workload> make_workload(const WorkloadOptions& options) {
  if (auto checked = check(options); !checked) return tl::unexpected<Error>(checked.error());
  Draw draw(options);
  if (options.kind == "replay") {
    const auto trace = read_trace(options.trace, options.requests);
    if (!trace) return tl::unexpected<Error>(trace.error());
    return replay(options, draw, *trace);
  }
  Workload workload;
  if (options.kind == "random") {
    workload = random_requests(options, draw);
  } else if (options.kind == "shared-prefix") {
    workload = shared_prefix(options, draw);
  } else if (options.kind == "multi-turn") {
    workload = multi_turn(options, draw);
  } else {
    return fail(ErrorCode::bad_input,
                "there is no workload \"" + options.kind +
                    "\"; there are random, shared-prefix, multi-turn, replay");
  }
  // The rate is of requests, not of conversations.
  ArrivalOptions arrivals = options.arrivals;
  arrivals.rate_per_s *=
      static_cast<double>(workload.size()) / static_cast<double>(options.requests);
  const auto times_s = draw_arrivals(arrivals, workload.size(), draw.random());
  for (std::size_t i = 0; i < workload.size(); ++i) workload[i].start_s = times_s[i];
  return workload;
}

}  // namespace serving::bench
