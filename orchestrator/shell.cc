#include "orchestrator/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "orchestrator/broken_rule.h"
#include "orchestrator/settled.h"
#include "orchestrator/snapshot.h"

namespace orchestrator {

namespace {

constexpr double kLongestWait_s = 60;  // a clock that jumps is noticed after this long
constexpr double kLookAgain_s = 1;     // at what is only warned of

void pause(std::chrono::milliseconds length, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, length, [] { return false; });
}

}  // namespace

Shell::Shell(store::Store store, const base::Clock& clock, Performer& performer,
             ShellOptions options)
    : store_(std::move(store)),
      clock_(clock),
      performer_(performer),
      options_(std::move(options)) {}

Shell::~Shell() { inbox_.close(); }

base::Result<std::unique_ptr<Shell>> Shell::open(store::Store store, const base::Clock& clock,
                                                 Performer& performer, ShellOptions options) {
  std::unique_ptr<Shell> shell(new Shell(std::move(store), clock, performer, std::move(options)));
  NS_TRY(shell->load());
  shell->keep_snapshot();
  return shell;
}

std::optional<State> Shell::recall() {
  if (options_.program.empty()) return {};
  const auto instead = [](const std::string& why) {
    base::log_warning(why + "; the whole log is read instead, which takes longer");
    return std::nullopt;
  };
  auto kept = store_.snapshot();
  if (!kept) return instead(kept.error().text());
  if (!*kept) return {};
  const store::Snapshot& snapshot = **kept;
  if (snapshot.program != options_.program) {
    return instead("the snapshot is of another build of Nightshift");
  }
  auto state = from_snapshot(snapshot.payload);
  if (!state) return instead(state.error().text());
  auto replayed = store_.replay(
      [&](const store::Event& event) { return apply(*state, event.fact); }, snapshot.seq);
  if (!replayed) return instead("what follows the snapshot: " + replayed.error().text());
  snapshot_seq_ = snapshot.seq;
  return std::move(*state);
}

base::Status Shell::load() {
  State state;
  if (auto recalled = recall()) {
    state = std::move(*recalled);
  } else {
    snapshot_seq_ = 0;
    NS_TRY(store_.replay([&](const store::Event& event) { return apply(state, event.fact); }));
  }
  NS_ASSIGN(outbox, store_.outbox());
  for (const store::PendingEffect& pending : outbox) {
    if (broken(Rule::pending_survives_restart)) continue;
    NS_ASSIGN(effect, from_pending(pending));
    state.next_effect = std::max(state.next_effect, effect.id.value + 1);
    state.pending.emplace(effect.id, std::move(effect));
  }
  forget_settled(state);
  // Ids are never reused within a process: a late completion must not meet a new effect.
  state.next_effect = std::max(state.next_effect, state_.next_effect);
  state_ = std::move(state);
  return {};
}

// One that cannot be written is missed by nobody but the next restart.
void Shell::keep_snapshot() {
  const std::int64_t seq = store_.last_seq();
  if (options_.program.empty() || seq - snapshot_seq_ < options_.snapshot_every) return;
  snapshot_seq_ = seq;
  forget_settled(state_);
  auto kept = store_.save_snapshot({seq, options_.program, to_snapshot(state_)});
  if (!kept) base::log_warning("no snapshot was kept: " + kept.error().text());
}

base::Status Shell::reload() {
  stale_ = true;
  NS_TRY(load());
  stale_ = false;
  return {};
}

void Shell::post(Event event) { inbox_.push({std::move(event), nullptr}); }

base::Result<web::Reply> Shell::submit(web::Command command) {
  auto reply = std::make_shared<std::promise<base::Result<web::Reply>>>();
  auto answer = reply->get_future();
  inbox_.push({CommandGiven{std::move(command)}, reply});
  while (answer.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
    if (inbox_.closed()) {
      return base::fail(base::ErrorCode::unavailable, "the daemon is stopping; ask again later");
    }
  }
  return answer.get();
}

base::Result<web::Reply> Shell::execute(web::Command command) {
  auto reply = std::make_shared<std::promise<base::Result<web::Reply>>>();
  auto answer = reply->get_future();
  NS_TRY(step({CommandGiven{std::move(command)}, std::move(reply)}));
  return answer.get();
}

std::string Shell::trouble() const {
  std::lock_guard lock(trouble_mutex_);
  return trouble_;
}

void Shell::set_trouble(std::string text) {
  std::lock_guard lock(trouble_mutex_);
  if (!text.empty() && text != trouble_) base::log_error(text);
  trouble_ = std::move(text);
}

std::string Shell::warning() const {
  std::lock_guard lock(trouble_mutex_);
  return warning_;
}

// A reader of another program holds one moment of the database, so that the write-ahead log can
// only grow: said once, in the record too, and tried again every second until the log is cut.
base::Status Shell::watch_wal() {
  std::string text;
  if (store_.wal_bytes() > store::kMostWalBytes) {
    auto cut = store_.cut_wal();
    if (!cut || !*cut) {
      text = fmt::format(
          "another program has been reading one moment of the database for long, so its "
          "write-ahead "
          "log cannot be cut and has grown to {} MiB; end that program (`fuser {}` names it)",
          store_.wal_bytes() >> 20, store_.file().string());
    }
  }
  bool begins = false;
  {
    std::lock_guard lock(trouble_mutex_);
    begins = warning_.empty() && !text.empty();
    if (text.empty() && !warning_.empty()) base::log_info("the write-ahead log is cut again");
    warning_ = text;
  }
  if (!begins) return {};
  base::log_warning(text);
  Decision decision;
  decision.facts.push_back(hypotheses::Noted{{}, {}, std::move(text)});
  return carry_out(std::move(decision), {});
}

// A command without a daemon lands what was approved; all else is left pending for the daemon.
void Shell::dispatch(const Effect& effect) {
  if (!options_.run_nights && !std::holds_alternative<LandMerge>(effect.kind)) return;
  if (!dispatched_.insert(effect.id).second) return;
  performer_.perform(order_of(state_, effect),
                     [this](Completed completed) { post(std::move(completed)); });
}

// After a restart: everything that was pending is performed again.
void Shell::dispatch_pending() {
  for (const auto& [id, effect] : state_.pending) dispatch(effect);
}

base::Status Shell::carry_out(Decision decision, const Item& item) {
  store::Commit commit;
  commit.at = clock_.now();
  std::vector<Effect> effects;
  for (EffectKind& kind : decision.effects) {
    effects.push_back(
        {{state_.next_effect + static_cast<std::int64_t>(effects.size())}, std::move(kind)});
    commit.pending.push_back(to_pending(effects.back()));
  }
  commit.done = decision.done;
  // The state goes first: what cannot be applied must not be stored.
  for (const hypotheses::Fact& fact : decision.facts) {
    if (auto applied = apply(state_, fact); !applied) {
      base::log_error("bug: a decision was not applicable and is dropped: " +
                      applied.error().text());
      ++dropped_;
      NS_TRY(reload());
      if (item.reply) item.reply->set_value(tl::unexpected(applied.error()));
      return {};
    }
  }
  for (const Effect& effect : effects) {
    if (broken(Rule::recorded_before_done)) dispatch(effect);
  }
  commit.facts = std::move(decision.facts);
  bool recorded = !commit.facts.empty() || !commit.pending.empty() || !commit.done.empty();
  if (recorded) {
    if (auto stored = store_.commit(commit); !stored) {
      if (auto again = reload(); !again) base::log_error(again.error().text());
      return stored;
    }
  }
  state_.next_effect += static_cast<std::int64_t>(effects.size());
  for (auto id : commit.done) state_.pending.erase(id);
  for (const Effect& effect : effects) state_.pending.emplace(effect.id, effect);
  if (item.reply) {
    item.reply->set_value(decision.reply ? std::move(*decision.reply)
                                         : base::fail(base::ErrorCode::bug, "no reply"));
  }
  for (const Effect& effect : effects) dispatch(effect);
  if (recorded && options_.on_commit) options_.on_commit(store_.last_seq(), state_);
  keep_snapshot();
  return {};
}

base::Status Shell::step(const Item& item) {
  if (stale_) NS_TRY(reload());
  Decision decision = decide(state_, item.event, clock_.now());
  if (decision.empty()) return {};
  return carry_out(std::move(decision), item);
}

// A decision that was dropped would only be made again: it waits for the next event.
base::Status Shell::settle() {
  for (const int dropped = dropped_; options_.run_nights && dropped_ == dropped;) {
    Decision decision = decide(state_, Advance{}, clock_.now());
    if (decision.empty()) return {};
    NS_TRY(carry_out(std::move(decision), {}));
  }
  return {};
}

base::Status Shell::run(std::stop_token stop, const std::function<bool(const State&)>& done) {
  std::stop_callback wake(stop, [this] { post(Tick{}); });
  if (options_.run_nights) {
    NS_TRY(step({Started{static_cast<int>(state_.pending.size())}, nullptr}));
  }
  dispatch_pending();
  post(Tick{});
  std::optional<Item> held;  // an event that could not be recorded yet
  while (!stop.stop_requested() && !(done && !stale_ && done(state_))) {
    double wait_s =
        std::min(kLongestWait_s, next_wake(state_, clock_.now()).seconds_since(clock_.now()));
    if (!warning().empty()) wait_s = std::min(wait_s, kLookAgain_s);
    if (held) wait_s = options_.retry_s;
    std::chrono::milliseconds wait(static_cast<std::int64_t>(wait_s * 1e3) + 1);
    std::optional<Item> item;
    if (held) {
      pause(wait, stop);
      item = std::exchange(held, std::nullopt);
    } else {
      item = inbox_.pop(wait);
    }
    if (!item) item = Item{Tick{}, nullptr};
    if (stop.stop_requested()) break;
    base::Status stepped = step(*item);
    base::Status status = stepped ? settle() : stepped;
    if (status) status = watch_wal();
    if (status) {
      set_trouble("");
      continue;
    }
    set_trouble("nothing can be recorded: " + status.error().text() +
                "; trying again every second, nothing is lost");
    if (stepped) {
      held = Item{Tick{}, nullptr};  // the event itself is recorded
    } else if (item->reply) {
      item->reply->set_value(tl::unexpected(status.error()));
    } else {
      held = std::move(item);
    }
  }
  return {};
}

}  // namespace orchestrator
