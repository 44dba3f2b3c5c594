#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "runners/trace.h"

namespace runners {
namespace {

using Index = std::uint32_t;  // of a span

// A change of what is open. At one instant ends come before begins, inner ends before outer ones,
// outer begins before inner ones.
struct Edge {
  double at_us;
  bool begins;
  Index span;

  bool operator<(const Edge& other) const {
    if (at_us != other.at_us) return at_us < other.at_us;
    if (begins != other.begins) return other.begins;
    return begins ? span < other.span : span > other.span;
  }
};

std::vector<Edge> edges_of(const Trace& trace) {
  std::vector<Edge> edges;
  edges.reserve(2 * trace.spans.size());
  for (Index i = 0; i < trace.spans.size(); ++i) {
    edges.push_back({trace.spans[i].begin_us, true, i});
    edges.push_back({trace.spans[i].end_us, false, i});
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

// The call tree of all lanes together.
class CallTree {
 public:
  std::int32_t child(std::int32_t parent, std::uint32_t name) {
    const auto key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(parent)) << 32) | name;
    auto [place, added] = children_.emplace(key, static_cast<std::int32_t>(nodes.size()));
    if (added) nodes.push_back({parent, name, 0});
    return place->second;
  }
  std::vector<CriticalPath::Node> nodes;

 private:
  std::unordered_map<std::uint64_t, std::int32_t> children_;
};

// The open spans of a lane, outermost first, with their places in the tree.
struct Lane {
  std::vector<Index> open;
  std::vector<std::int32_t> nodes;
};

class Walk {
 public:
  Walk(const Trace& trace, const std::vector<bool>& waits)
      : trace_(trace), waits_(waits), lanes_(trace.lanes.size()) {}

  bool busy(std::size_t lane) const {
    const auto& open = lanes_[lane].open;
    return !open.empty() && !waits_[trace_.spans[open.back()].name];
  }
  std::size_t depth(std::size_t lane) const { return lanes_[lane].open.size(); }
  std::int32_t innermost(std::size_t lane) const { return lanes_[lane].nodes.back(); }

  void take(const Edge& edge, CallTree& tree) {
    Lane& lane = lanes_[trace_.spans[edge.span].lane];
    if (edge.begins) {
      lane.open.push_back(edge.span);
      place(lane, lane.open.size() - 1, tree);
      return;
    }
    // The last one, unless spans overlap without nesting.
    const auto found = std::find(lane.open.rbegin(), lane.open.rend(), edge.span);
    const auto at = static_cast<std::size_t>(lane.open.rend() - found) - 1;
    lane.open.erase(lane.open.begin() + static_cast<std::ptrdiff_t>(at));
    place(lane, at, tree);
  }

 private:
  // The places in the tree of the spans from `first` on.
  void place(Lane& lane, std::size_t first, CallTree& tree) const {
    lane.nodes.resize(first);
    for (std::size_t i = first; i < lane.open.size(); ++i) {
      const std::int32_t parent = i == 0 ? -1 : lane.nodes.back();
      lane.nodes.push_back(tree.child(parent, trace_.spans[lane.open[i]].name));
    }
  }

  const Trace& trace_;
  const std::vector<bool>& waits_;
  std::vector<Lane> lanes_;
};

// How long each lane is busy in all. Here the limits are held against the trace.
base::Result<std::vector<double>> busy_us(const Trace& trace, const std::vector<Edge>& edges,
                                          const std::vector<bool>& waits,
                                          const TraceLimits& limits) {
  std::vector<double> busy(trace.lanes.size()), since(trace.lanes.size());
  Walk walk(trace, waits);
  CallTree tree;
  for (const Edge& edge : edges) {
    const std::size_t lane = trace.spans[edge.span].lane;
    if (walk.busy(lane)) busy[lane] += edge.at_us - since[lane];
    since[lane] = edge.at_us;
    walk.take(edge, tree);
    if (walk.depth(lane) > limits.depth || tree.nodes.size() > limits.spans) {
      return base::fail(base::ErrorCode::bad_input,
                        fmt::format("expected at most {} spans open at once in a lane, and {} "
                                    "different nestings; trace fewer kinds of spans",
                                    limits.depth, limits.spans));
    }
  }
  return busy;
}

// The rank of each lane: 0 for the one that is busy the longest.
std::vector<std::size_t> ranks_of(const std::vector<double>& busy) {
  std::vector<std::size_t> order(busy.size()), ranks(busy.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return busy[a] > busy[b]; });
  for (std::size_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

}  // namespace

base::Result<CriticalPath> critical_path(const Trace& trace,
                                         const std::function<bool(std::string_view)>& waits,
                                         const TraceLimits& limits) {
  CriticalPath path;
  if (trace.spans.empty()) return path;
  std::vector<bool> waiting;
  for (const std::string& name : trace.names) waiting.push_back(waits(name));
  const std::vector<Edge> edges = edges_of(trace);
  NS_ASSIGN(busy_times, busy_us(trace, edges, waiting, limits));
  const std::vector<std::size_t> ranks = ranks_of(busy_times);

  const double total_us = edges.back().at_us - edges.front().at_us;
  double last_us = edges.front().at_us;
  std::set<std::pair<std::size_t, std::size_t>> busy;  // rank and lane
  Walk walk(trace, waiting);
  CallTree tree;
  path.idle = 0;
  for (const Edge& edge : edges) {
    const double share = (edge.at_us - last_us) / total_us;
    if (busy.empty()) {
      path.idle += share;
    } else {
      tree.nodes[static_cast<std::size_t>(walk.innermost(busy.begin()->second))].share += share;
    }
    last_us = edge.at_us;
    const std::size_t lane = trace.spans[edge.span].lane;
    walk.take(edge, tree);
    if (walk.busy(lane)) {
      busy.insert({ranks[lane], lane});
    } else {
      busy.erase({ranks[lane], lane});
    }
  }
  path.nodes = std::move(tree.nodes);
  return path;
}

}  // namespace runners
