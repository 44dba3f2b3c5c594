// The tables again, as the glossary draws them: every pair that is not listed is refused.
#include "hypotheses/transitions.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

namespace hypotheses {
namespace {

using Diagram = std::map<std::string, std::set<std::string>>;

template <class State>
void check_diagram(const Diagram& diagram) {
  for (const auto& [from, from_word] : words(State{})) {
    for (const auto& [to, to_word] : words(State{})) {
      INFO(from_word << " -> " << to_word);
      const auto row = diagram.find(std::string(from_word));
      const bool listed = row != diagram.end() && row->second.contains(std::string(to_word));
      CHECK(legal(from, to) == listed);
    }
  }
}

template <class State>
void check_terminal(const std::set<std::string>& last) {
  for (const auto& [state, word] : words(State{})) {
    INFO(word);
    CHECK(terminal(state) == last.contains(std::string(word)));
  }
}

}  // namespace

TEST_CASE("a hypothesis moves as the glossary draws it") {
  check_diagram<HypothesisState>({{"queued", {"preparing", "testing", "decided", "cancelled"}},
                                  {"preparing", {"testing", "queued", "decided", "cancelled"}},
                                  {"testing", {"decided", "queued", "cancelled"}}});
  check_terminal<HypothesisState>({"decided", "cancelled"});
}

TEST_CASE("an experiment, a campaign and a night move as the glossary draws them") {
  check_diagram<ExperimentState>({{"running", {"finished", "cancelled"}}});
  check_diagram<CampaignState>(
      {{"active", {"paused", "cancelled"}}, {"paused", {"active", "cancelled"}}});
  check_diagram<NightState>({{"running", {"ended"}}});
}

TEST_CASE("a merge moves as the glossary draws it") {
  check_diagram<MergeState>({{"preparing", {"measuring", "failed", "rejected"}},
                             {"measuring", {"waiting", "failed", "preparing", "rejected"}},
                             {"waiting", {"approved", "rejected", "preparing", "failed"}},
                             {"approved", {"landed", "preparing", "failed", "waiting"}}});
  check_terminal<MergeState>({"landed", "rejected", "failed"});
}

}  // namespace hypotheses
