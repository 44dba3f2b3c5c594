// The tables `events`, `outbox` and `counters`: the record itself.
#pragma once

#include <functional>
#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace store {

// Values that a JSON record cannot hold are refused here, with the metric and the run named.
base::Status check_storable(const hypotheses::Fact& fact);

base::Status append(Connection& db, std::int64_t seq, base::Instant at,
                    const hypotheses::Fact& fact);
base::Result<std::int64_t> last_event(Connection& db);  // 0 when there is none

// Events above `after` in order, `limit` at most (-1 = all); a gap in the sequence is an error.
base::Status each_event(Connection& db, std::int64_t after, std::int64_t limit,
                        const std::function<base::Status(const Event&)>& visit);

// The fact whose payload stands in `column`.
base::Result<hypotheses::Fact> parse_fact(std::string_view kind, std::string_view payload,
                                          const Connection& db);
template <class F>
base::Result<F> fact_at(const Connection& db, const Statement& row, int column) {
  static const std::string kind{hypotheses::kind_of(F{})};
  NS_ASSIGN(fact, parse_fact(kind, row.text(column), db));
  return std::get<F>(std::move(fact));
}

base::Status add_pending(Connection& db, const PendingEffect& effect);
base::Status remove_done(Connection& db, hypotheses::EffectId effect);
base::Result<std::vector<PendingEffect>> pending_effects(Connection& db);

// Counted in the same transaction, so that nobody ever counts over a table.
base::Status count(Connection& db, std::string_view counter, std::int64_t more = 1);
base::Result<std::int64_t> counted(Connection& db, std::string_view counter);

}  // namespace store
