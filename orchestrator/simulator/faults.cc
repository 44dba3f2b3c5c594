#include "orchestrator/simulator/faults.h"

#include <fmt/format.h>

#include <array>

#include "base/rng.h"

namespace orchestrator {

namespace {

struct Word {
  FaultKind kind;
  const char* text;
  int weight;  // how often it is drawn
};

constexpr std::array kWords = {
    Word{FaultKind::crash_before_commit, "crash before commit", 6},
    Word{FaultKind::crash_after_commit, "crash after commit", 6},
    Word{FaultKind::crash_when_begun, "crash with effects begun at commit", 6},
    Word{FaultKind::commit_busy, "database busy at commit", 3},
    Word{FaultKind::disk_full, "disk full at commit", 3},
    Word{FaultKind::crash, "crash at turn", 3},
    Word{FaultKind::completion_late, "late completion at turn", 4},
    Word{FaultKind::completion_twice, "completion twice at turn", 4},
    Word{FaultKind::completion_lost, "lost completion at turn", 3},
    Word{FaultKind::machine_fails, "machine fails at turn", 4},
    Word{FaultKind::git_fails, "git fails at turn", 2},
    Word{FaultKind::base_moves, "base moves at turn", 5},
    Word{FaultKind::clock_jumps, "clock jumps at turn", 4},
    Word{FaultKind::approve, "approval at turn", 3},
    Word{FaultKind::approve_other, "approval of another commit at turn", 3},
    Word{FaultKind::approve_twice, "two approvals at turn", 3},
    Word{FaultKind::approve_and_reject, "approval and rejection at turn", 3},
    Word{FaultKind::reject, "rejection at turn", 2},
    Word{FaultKind::pause, "pause at turn", 4},
    Word{FaultKind::resume, "resume at turn", 3},
    Word{FaultKind::cancel, "cancel at turn", 1},
    Word{FaultKind::start_night, "another night asked for at turn", 2},
    Word{FaultKind::propose, "proposal at turn", 6},
};

FaultKind draw_kind(base::Rng& rng) {
  int total = 0;
  for (const Word& word : kWords) total += word.weight;
  int left = static_cast<int>(rng.below(static_cast<std::size_t>(total)));
  for (const Word& word : kWords) {
    if ((left -= word.weight) < 0) return word.kind;
  }
  return FaultKind::crash;
}

int draw_size(FaultKind kind, base::Rng& rng) {
  constexpr int kJumps_s[] = {-86'400, -3'600, -60, 60, 3'600, 20'000, 86'400, 400'000};
  if (kind == FaultKind::clock_jumps) return kJumps_s[rng.below(std::size(kJumps_s))];
  if (kind == FaultKind::completion_late) return 1 + static_cast<int>(rng.below(60));
  return static_cast<int>(rng.below(3));
}

}  // namespace

std::string to_text(const Fault& fault) {
  for (const Word& word : kWords) {
    if (word.kind == fault.kind) return fmt::format("{} {} ({})", word.text, fault.at, fault.size);
  }
  return "?";
}

// Up to twenty faults; most lives are short, so half of the faults strike early.
Plan draw_plan(std::uint64_t seed, int nights) {
  base::Rng rng(base::seed_from(seed, "faults"));
  Plan plan{seed, nights, {}};
  std::size_t count = rng.below(21);
  for (std::size_t i = 0; i < count; ++i) {
    Fault fault;
    fault.kind = draw_kind(rng);
    fault.at = 1 + static_cast<int>(rng.below(rng.coin() ? 50 : 200));
    fault.size = draw_size(fault.kind, rng);
    plan.faults.push_back(fault);
  }
  return plan;
}

}  // namespace orchestrator
