#include "serving/bench/load.h"

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "serving/core/clock.h"

namespace serving::bench {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// Deterministic per request: not a function of what other workers do.
std::vector<Token> stand_in(std::uint64_t seed, std::size_t request, const Turn& turn) {
  std::mt19937_64 random(seed + request);
  std::vector<Token> tokens(static_cast<std::size_t>(turn.output_tokens));
  for (Token& token : tokens) token = turn.input[random() % turn.input.size()];
  return tokens;
}

class Run {
 public:
  Run(const Workload& workload, const ClientOptions& client, const LoadOptions& options)
      : workload_(workload), client_(client), options_(options) {
    for (const Conversation& conversation : workload) {
      first_record_.push_back(result_.records.size());
      result_.records.resize(result_.records.size() + conversation.turns.size());
    }
  }

  LoadResult run() && {
    begin_ns_ = now_ns();
    {
      std::vector<std::jthread> workers;
      for (int i = 0; i < options_.workers; ++i) workers.emplace_back([this] { work(); });
    }
    result_.duration_s = seconds(now_ns() - begin_ns_);
    return std::move(result_);
  }

 private:
  void work() {
    while (true) {
      const std::size_t next = next_++;
      if (next >= workload_.size()) return;
      converse(workload_[next], first_record_[next]);
    }
  }

  void converse(const Conversation& conversation, std::size_t record) {
    const std::int64_t due_ns = begin_ns_ + static_cast<std::int64_t>(conversation.start_s * 1e9);
    if (const std::int64_t wait_ns = due_ns - now_ns(); wait_ns > 0) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(wait_ns));
    }
    const Client client(client_);
    Prompt prompt(client_);
    for (std::size_t i = 0; i < conversation.turns.size(); ++i) {
      const Turn& turn = conversation.turns[i];
      prompt.ask(turn);
      RequestRecord& result = result_.records[record + i];
      result = client.send(prompt.body(turn.output_tokens));
      if (i == 0 && conversation.start_s > 0) result.late_s = seconds(result.sent_ns - due_ns);
      if (!result.error.empty()) {
        for (std::size_t rest = i + 1; rest < conversation.turns.size(); ++rest) {
          result_.records[record + rest].error = "not sent: an earlier turn failed";
        }
        return;
      }
      prompt.answered(result, stand_in(options_.seed, record + i, turn));
    }
  }

  const Workload& workload_;
  const ClientOptions& client_;
  const LoadOptions& options_;
  std::vector<std::size_t> first_record_;  // of each conversation
  std::atomic<std::size_t> next_ = 0;
  std::int64_t begin_ns_ = 0;
  LoadResult result_;  // each record is written by one worker
};

}  // namespace

LoadResult run_load(const Workload& workload, const ClientOptions& client,
                    const LoadOptions& options) {
  return Run(workload, client, options).run();
}

}  // namespace serving::bench
