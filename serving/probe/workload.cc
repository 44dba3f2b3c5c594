#include "serving/probe/workload.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "serving/core/clock.h"
#include "serving/engine/sampler.h"

namespace serving::probe {

namespace {

constexpr Token kFirstOrdinary = 3;  // below it are the unknown token, bos and eos

Token draw(const Workload& workload, std::uint64_t stream, int index, int vocabulary) {
  const double u = uniform(workload.seed * 1'000'003 + stream, static_cast<std::uint64_t>(index));
  return kFirstOrdinary + static_cast<Token>(u * (vocabulary - kFirstOrdinary));
}

Request request_of(const Workload& workload, int number, int vocabulary) {
  Request request;
  for (int i = 0; i < workload.shared_tokens; ++i) {
    request.prompt.push_back(draw(workload, 0, i, vocabulary));
  }
  for (int i = 0; i < workload.prompt_tokens; ++i) {
    request.prompt.push_back(draw(workload, static_cast<std::uint64_t>(number) + 1, i, vocabulary));
  }
  request.sampling.temperature = 0;
  request.max_tokens = workload.answer_tokens;
  request.ignore_eos = true;
  return request;
}

// The clients of the closed loop: each takes the next request when it has its answer.
class Clients {
 public:
  Clients(Engine& engine, const Workload& workload) : engine_(engine), workload_(workload) {
    const auto requests = static_cast<std::size_t>(workload.requests);
    outcome_.answers.resize(requests);
    outcome_.first_token_ms.resize(requests);
  }

  Result<Outcome> run() {
    const std::int64_t begin = now_ns();
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < workload_.in_flight; ++i) threads.emplace_back([this] { work(); });
    }
    outcome_.wall_s = static_cast<double>(now_ns() - begin) / 1e9;
    outcome_.stats = engine_.stats();
    if (error_) return tl::unexpected(*error_);
    return std::move(outcome_);
  }

 private:
  void work() {
    for (int number = next_++; number < workload_.requests; number = next_++) {
      if (auto done = ask(number); !done) {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = done.error();
        return;
      }
    }
  }

  Status ask(int number) {
    const auto row = static_cast<std::size_t>(number);
    const std::int64_t begin = now_ns();
    auto answer = engine_.submit(request_of(workload_, number, engine_.shape().vocabulary));
    if (!answer) return tl::unexpected(answer.error());
    while (true) {
      const auto step = (*answer)->next(std::chrono::seconds(60));
      if (!step) return fail(ErrorCode::unavailable, "no token came within 60 s");
      if (step->token) {
        if (outcome_.answers[row].empty()) {
          outcome_.first_token_ms[row] = static_cast<double>(now_ns() - begin) / 1e6;
        }
        outcome_.answers[row].push_back(*step->token);
      }
      if (step->finish == Finish::length) return {};
      if (step->finish != Finish::none) {
        return fail(ErrorCode::bad_input, "an answer ended before its " +
                                              std::to_string(workload_.answer_tokens) + " tokens");
      }
    }
  }

  Engine& engine_;
  const Workload& workload_;
  Outcome outcome_;  // a row belongs to the client that asks it
  std::atomic<int> next_ = 0;
  std::mutex mutex_;
  std::optional<Error> error_;  // guarded by mutex_
};

}  // namespace

Result<Outcome> serve(const std::string& model_path, const Launch& launch,
                      const Workload& workload) {
  auto loaded = load_model(model_path, launch.load);
  if (!loaded) return tl::unexpected(loaded.error());
  EngineOptions options = launch.engine;
  options.queue_limit = std::max(options.queue_limit, workload.in_flight);
  if (auto fits = check_options(options, loaded->model->shape()); !fits) {
    return tl::unexpected(fits.error());
  }
  const auto engine = make_engine(std::move(loaded->model), options);
  // A small answer first: pages are touched, threads have started.
  Workload warm_up = workload;
  warm_up.requests = warm_up.in_flight = 1;
  warm_up.shared_tokens = 0;
  warm_up.seed += 1'000;
  if (auto warm = Clients(*engine, warm_up).run(); !warm) return warm;
  return Clients(*engine, workload).run();
}

}  // namespace serving::probe
