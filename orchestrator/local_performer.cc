#include "orchestrator/local_performer.h"

#include "base/log.h"

namespace orchestrator {

using base::ErrorCode;

LocalPerformer::LocalPerformer(LocalPerformerOptions options, const base::Clock& clock)
    : folders_(options.state),
      lab_(folders_, options.runner_of, clock),
      gate_(folders_, clock),
      options_(std::move(options)) {
  auto serve = [this](base::Queue<Item>& queue) {
    threads_.emplace_back([this, &queue](std::stop_token stop) { work(queue, stop); });
  };
  for (int i = 0; i < options_.benches; ++i) serve(attempts_);
  for (int i = 0; i < options_.slurm_jobs; ++i) serve(on_slurm_);
  serve(git_);
  serve(planning_);
}

LocalPerformer::~LocalPerformer() { stop(); }

void LocalPerformer::perform(Order order, Post post) {
  if (const auto* stop = std::get_if<StopOrder>(&order.what)) {
    end(*stop);
    post({order.id, StopDone{}});
    return;
  }
  auto& queue = queue_of(order);
  queue.push({std::move(order), std::move(post)});
}

base::Queue<LocalPerformer::Item>& LocalPerformer::queue_of(const Order& order) {
  if (const auto* attempt = std::get_if<AttemptOrder>(&order.what)) {
    return slurm_of(*attempt) != nullptr ? on_slurm_ : attempts_;
  }
  return std::holds_alternative<PlannerOrder>(order.what) ? planning_ : git_;
}

void LocalPerformer::stop() {
  for (auto* queue : {&attempts_, &on_slurm_, &git_, &planning_}) queue->close();
  for (std::jthread& thread : threads_) thread.request_stop();
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, source] : running_) source.request_stop();
  }
  threads_.clear();
}

void LocalPerformer::end(const StopOrder& order) {
  std::lock_guard lock(mutex_);
  auto found = running_.find(order.experiment);
  if (found != running_.end()) found->second.request_stop();
}

void LocalPerformer::work(base::Queue<Item>& queue, std::stop_token stop) {
  while (!stop.stop_requested()) {
    auto item = queue.pop(std::chrono::seconds(3600));
    if (!item) {
      if (queue.closed()) return;
      continue;
    }
    if (stop.stop_requested()) return;
    base::Result<Completion> result = carry_out(item->order, stop);
    // What was cut off by our own end stays pending; the next daemon performs it again.
    if (stop.stop_requested()) return;
    if (result) {
      item->post({item->order.id, std::move(*result)});
    } else {
      base::log_warning(item->order.id.text() + ": " + result.error().text());
      item->post({item->order.id, EffectFailed{result.error()}});
    }
  }
}

base::Result<Completion> LocalPerformer::carry_out(const Order& order, std::stop_token stop) {
  try {
    if (const auto* night = std::get_if<OpenNightOrder>(&order.what))
      return gate_.open_night(*night);
    if (const auto* make = std::get_if<CandidateOrder>(&order.what)) {
      return gate_.make_candidate(*make);
    }
    if (const auto* attempt = std::get_if<AttemptOrder>(&order.what)) {
      return run_attempt(*attempt, stop);
    }
    if (const auto* merge = std::get_if<MergeOrder>(&order.what))
      return gate_.prepare_merge(*merge);
    if (const auto* land = std::get_if<LandOrder>(&order.what)) return gate_.land(*land);
    if (const auto* fetch = std::get_if<FetchOrder>(&order.what)) return gate_.fetch(*fetch);
    const auto& planner = std::get<PlannerOrder>(order.what);
    NS_ASSIGN(folder, folders_.of(planner.target));
    const auto& mirror = folder->mirror;
    LlmQuestion question{
        planner.view,
        planner.policy,
        planner.ask.turn,
        planner.ask.reserved_tokens,
        [&](const std::string& path) { return mirror.file_at(planner.tree, path); },
        [&] { return mirror.list_files(planner.tree); }};
    return Completion{ask_llm(question, options_.environment, stop)};
  } catch (const std::exception& error) {
    return base::fail(ErrorCode::bug, error.what(), order.id.text());
  }
}

base::Result<Completion> LocalPerformer::run_attempt(const AttemptOrder& order,
                                                     std::stop_token stop) {
  std::stop_source source;
  {
    std::lock_guard lock(mutex_);
    running_[order.experiment.id] = source;
  }
  std::stop_callback on_stop(stop, [&source] { source.request_stop(); });
  auto runs = lab_.perform(order, source.get_token());
  {
    std::lock_guard lock(mutex_);
    running_.erase(order.experiment.id);
  }
  if (!runs) return tl::unexpected(runs.error());
  return Completion{AttemptDone{std::move(*runs)}};
}

}  // namespace orchestrator
