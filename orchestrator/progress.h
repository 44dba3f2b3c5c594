// Tells on a terminal what a night does, line by line, as it is recorded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>

#include "hypotheses/facts.h"
#include "store/reader.h"

namespace orchestrator {

// The line for a fact, or nothing for those that a person need not see as they happen.
std::optional<std::string> line_of(const hypotheses::Fact& fact);

class Progress {
 public:
  // Reads the store of the folder from event `after` on. With `live` the experiment that runs is
  // shown on a line that is rewritten in place.
  Progress(const std::filesystem::path& state, std::int64_t after, std::ostream& out, bool live);

  // Prints what was recorded since the last call. On any one thread.
  void update();

 private:
  void show(const hypotheses::Fact& fact);
  void clear_live();

  std::optional<store::Reader> reader_;
  std::int64_t seq_;
  std::ostream& out_;
  bool live_;
  std::string running_;  // what the live line says of the running experiment
  int attempts_ = 0;
};

}  // namespace orchestrator
