// Chrome trace events: how the time of a metric divides among the spans that the manifest names.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runners/adapter_parts.h"
#include "runners/trace.h"

namespace runners {
using hypotheses::Probe;
using hypotheses::Timeline;
namespace {

constexpr std::size_t kMostStacks = 256;  // nestings of the manifest's spans
constexpr std::size_t kNamesShown = 8;

using Stack = std::vector<std::string>;

// The patterns that each name of the trace matches, in their order.
std::vector<Stack> patterns_of(const Probe& probe, const Trace& trace) {
  std::vector<Stack> patterns(trace.names.size());
  for (std::size_t i = 0; i < trace.names.size(); ++i) {
    for (const auto& [pattern, covers] : probe.spans) {
      if (hypotheses::glob_matches(pattern, trace.names[i])) patterns[i].push_back(pattern);
    }
  }
  return patterns;
}

// Shares by the manifest's spans on each node's way to the root, each span once: a change of what
// any of them stands for then finds its share as a sum in which no instant counts twice.
base::Result<std::map<Stack, double>> stacks_of(const Probe& probe, const CriticalPath& path,
                                                const std::vector<Stack>& patterns) {
  std::vector<const Stack*> stacks;  // by node
  std::map<Stack, double> shares;
  for (const CriticalPath::Node& node : path.nodes) {
    Stack stack;
    if (node.parent >= 0) stack = *stacks[static_cast<std::size_t>(node.parent)];
    for (const std::string& pattern : patterns[node.name]) {
      if (std::find(stack.begin(), stack.end(), pattern) == stack.end()) stack.push_back(pattern);
    }
    const auto place = shares.emplace(std::move(stack), 0.0).first;
    place->second += node.share;
    stacks.push_back(&place->first);
    if (shares.size() > kMostStacks)
      return refuse(probe, fmt::format("its spans nest in more than {} different ways; name fewer "
                                       "under 'spans'",
                                       kMostStacks));
  }
  return shares;
}

std::string some_of(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i)
    list += (i > 0 ? ", " : "") + clean_text(names[i], 60);
  return names.size() > kNamesShown ? list + ", ..." : list;
}

}  // namespace

base::Result<ProbeOutput> parse_chrome_trace(const Probe& probe, std::string_view text) {
  auto trace = read_trace(text);
  if (!trace)
    return refuse(probe, fmt::format("its stdout is no Chrome trace: {}", trace.error().message));
  if (trace->spans.empty())
    return refuse(probe,
                  "its trace has no span that takes time (events of phase X with \"dur\", or B and "
                  "E)");
  const auto waits = [&](std::string_view name) {
    return std::any_of(probe.waits.begin(), probe.waits.end(), [&](const std::string& pattern) {
      return hypotheses::glob_matches(pattern, name);
    });
  };
  auto path = critical_path(*trace, waits);
  if (!path) return refuse(probe, "its trace cannot be used: " + path.error().message);
  const std::vector<Stack> patterns = patterns_of(probe, *trace);
  NS_ASSIGN(shares, stacks_of(probe, *path, patterns));
  Timeline timeline;
  timeline.idle = path->idle;
  for (const auto& [stack, share] : shares) {
    if (!stack.empty() && share > 0) timeline.stacks.push_back({stack, share});
  }
  for (const auto& span : probe.spans) {
    const std::string& pattern = span.first;
    const bool appears = std::any_of(patterns.begin(), patterns.end(), [&](const Stack& matched) {
      return std::find(matched.begin(), matched.end(), pattern) != matched.end();
    });
    if (!appears) timeline.missing.push_back(pattern);
  }
  // One that is missing takes no time; when all are, the names are what is wrong.
  if (timeline.missing.size() == probe.spans.size())
    return refuse(probe, fmt::format("none of the manifest's spans ({}) is in the trace; it has {}",
                                     some_of(timeline.missing), some_of(trace->names)));
  ProbeOutput output;
  output.timeline = std::move(timeline);
  return output;
}

}  // namespace runners
