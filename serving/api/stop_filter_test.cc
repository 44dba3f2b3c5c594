#include "serving/api/stop_filter.h"

#include <catch2/catch.hpp>
#include <iostream>
#include <random>

namespace serving {
namespace {

// The text before the first stop string: of several that end a text, the one that begins first.
std::string plainly(const std::string& text, const std::vector<std::string>& stops) {
  std::size_t first = text.size();
  for (const std::string& stop : stops) first = std::min(first, text.find(stop));
  return text.substr(0, std::min(first, text.size()));
}

}  // namespace

TEST_CASE("a stop string is found across pieces and never shown in part") {
  StopFilter filter({"STOP"});
  CHECK(filter.add("aS") == "a");
  CHECK(filter.add("TO") == "");
  CHECK(filter.add("x") == "STOx");
  CHECK(filter.add("S") == "");
  CHECK(filter.add("STOP and more") == "S");
  CHECK(filter.stopped());
  CHECK(filter.add("ignored") == "");
  CHECK(filter.finish() == "");
}

TEST_CASE("what was kept is shown when no text follows") {
  StopFilter filter({"\n\n"});
  CHECK(filter.add("a\n") == "a");
  CHECK(filter.finish() == "\n");
  CHECK_FALSE(filter.stopped());
}

TEST_CASE("random texts cut at random places stop where the whole text would") {
  const std::uint64_t seed = 11;
  std::cout << "stop filter: seed " << seed << '\n';
  std::mt19937_64 random(seed);
  int stopped = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::size_t i = random() % 20; i > 0; --i) text += static_cast<char>('a' + random() % 2);
    std::vector<std::string> stops;
    for (std::size_t i = 1 + random() % 2; i > 0; --i) {
      std::string stop;
      for (std::size_t j = 3 + random() % 3; j > 0; --j)
        stop += static_cast<char>('a' + random() % 2);
      // One length only: which of two stops ends first depends on the pieces otherwise.
      if (stops.empty() || stops[0].size() == stop.size()) stops.push_back(stop);
    }
    StopFilter filter(stops);
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 4;
      shown += filter.add(text.substr(at, size));
      at += size;
    }
    stopped += filter.stopped();
    shown += filter.finish();
    INFO(text << " with " << stops[0]);
    REQUIRE(shown == plainly(text, stops));
  }
  CHECK(stopped > 500);
}

}  // namespace serving
