// Recorded noise: what a real machine gave for pairs of runs of one and the same commit.
//
//   # nightshift noise recording 1
//   # machine: ...                  any "# name: value"; machine, date, command and unit must be
//   there first,second 312.5,310.9                     one pair a line, in the order in which the
//   two ran
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policies/trial.h"

namespace policies {

struct Recording {
  std::map<std::string, std::string> header;
  std::vector<TwoRuns> pairs;  // at least two; values positive and finite
};

base::Result<Recording> parse_recording(std::string_view text, const std::string& file);
std::string to_text(const Recording& recording);

// Replays a recording in contiguous blocks from random places (its end joined to its start), so
// that drift, bursts and the difference between first and second runs stay as they were.
Machine replay(Recording recording, int block);

}  // namespace policies
