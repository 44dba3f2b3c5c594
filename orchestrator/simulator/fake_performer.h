// Performs orders on a FakeTarget, in memory and on the caller's thread: the test decides when a
// queued order is carried out and what becomes of its completion. Everything it answers follows
// from the target and the order, so that an order that is given again is answered the same.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "orchestrator/orders.h"
#include "orchestrator/simulator/fake_target.h"

namespace orchestrator {

// What becomes of a completion on its way to the loop.
enum class Fate {
  arrives,
  arrives_twice,
  late,  // kept until deliver_late()
  lost,
};

class FakePerformer final : public Performer {
 public:
  // The clock moves on by what builds and runs take. Both must outlive it.
  FakePerformer(FakeTarget& target, base::ManualClock& clock) : target_(target), clock_(clock) {}

  // Queues the order; one to stop an experiment takes its attempts out of the queue.
  void perform(Order order, Post post) override;
  void stop() override { queue_.clear(); }

  // Carries out a queued order, the oldest unless told otherwise. Returns how many completions were
  // posted; nothing when the queue is empty.
  std::optional<int> step(std::size_t which = 0);

  bool idle() const { return queue_.empty(); }
  std::size_t queued() const { return queue_.size(); }
  std::size_t late() const { return late_.size(); }
  const Order& next() const { return queue_.front().order; }  // not when idle

  // Posts all that is late. Returns how many.
  int deliver_late();

  // Told of each order as it is given.
  std::function<void(const Order&)> given;
  // Told of each order before it is carried out; decides what becomes of its completion.
  std::function<Fate(const Order&)> fate;
  // Answers an order in the target's place, for failures of the machine.
  std::function<std::optional<Completion>(const Order&)> answer;
  // The LLM; without one nothing usable comes back.
  std::function<PlannerAnswered(const PlannerOrder&)> planner;

 private:
  struct Item {
    Order order;
    Post post;
  };
  Completion carry_out(const Order& order);
  Completion make_candidate(const CandidateOrder& order);
  Completion run_attempt(const AttemptOrder& order);
  hypotheses::Run build(const AttemptOrder& order, hypotheses::Side side);
  hypotheses::Run launch(const AttemptOrder& order, hypotheses::Side side, int position);
  base::Rng rng_of(const AttemptOrder& order, std::string_view name) const;
  double drift_at(const AttemptOrder& order, int position) const;

  FakeTarget& target_;
  base::ManualClock& clock_;
  std::deque<Item> queue_;
  std::vector<std::pair<Completed, Post>> late_;
};

}  // namespace orchestrator
