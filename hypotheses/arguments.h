// Argument vectors; substitute() and split_arguments() are declared in manifest.h.
#pragma once

#include <string>
#include <vector>

namespace hypotheses {

// The names of the {placeholders} of an argument vector, each once, in order. A placeholder is a
// brace, a name of letters, digits, '_', '.', '-' that starts with a letter or '_', and a brace;
// any other brace stands for itself, so {"a": 1} needs no escaping.
std::vector<std::string> placeholders(const std::vector<std::string>& argv);

}  // namespace hypotheses
