// Makes a state folder with a long history, to try pages, queries and restarts on:
// `history_generator FOLDER [experiments]`, 100,000 experiments of 10 runs unless told.
#include <fmt/format.h>

#include <cstdlib>

#include "orchestrator/history.h"

int main(int argc, char** argv) {
  const std::int64_t experiments = argc > 2 ? std::atoll(argv[2]) : 100'000;
  if (argc < 2 || experiments < 1) {
    fmt::print(stderr, "usage: history_generator FOLDER [experiments]\n");
    return 2;
  }
  auto store = store::Store::open(argv[1], base::Durability::fast);
  orchestrator::History history;
  base::Status filled = store ? base::Status() : base::Status(tl::unexpected(store.error()));
  if (filled && store->last_seq() > 0) {
    filled = base::fail(base::ErrorCode::conflict,
                        "expected an empty state folder, found a history; choose another", argv[1]);
  }
  if (filled) filled = orchestrator::fill(*store, history, experiments);
  if (!filled) {
    fmt::print(stderr, "{}\n", filled.error().text());
    return 1;
  }
  fmt::print("{} experiments, {} runs, {} hypotheses, {} nights, {} events in {}\n",
             history.experiments(), history.runs(), history.hypotheses(), history.nights(),
             store->last_seq(), argv[1]);
}
