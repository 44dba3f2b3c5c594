// "did you mean": the known word that a mistyped one most likely stands for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hypotheses {

// The candidate within a third of the word's length (at least one, at most three) of single-letter
// insertions, deletions, replacements and swaps of neighbours; empty when none is that near.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

// "; did you mean 'probes'?" or nothing: the tail of a message.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

// Text of a file inside a message: quoted, cut at 60 bytes, line breaks and control bytes as '?'.
std::string shown(std::string_view text);

}  // namespace hypotheses
