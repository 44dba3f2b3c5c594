#include "serving/grammar/token_trie.h"

#include <algorithm>
#include <cstddef>

namespace serving {

TokenTrie::TokenTrie(const std::vector<std::string_view>& tokens) : bytes_(tokens) {
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty() || tokens[id].size() > UINT16_MAX) continue;
    tokens_.push_back(static_cast<Token>(id));
  }
  std::sort(tokens_.begin(), tokens_.end(), [&](Token a, Token b) {
    const int order = bytes(a).compare(bytes(b));
    return order != 0 ? order < 0 : a < b;
  });
  std::vector<std::size_t> path;  // nodes from the root's child to the last one made
  const auto close_to = [&](std::size_t depth) {
    while (path.size() > depth) {
      nodes_[path.back()].skip = static_cast<std::int32_t>(nodes_.size());
      path.pop_back();
    }
  };
  std::string_view last;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string_view text = bytes(tokens_[i]);
    const auto common = static_cast<std::size_t>(
        std::mismatch(last.begin(), last.end(), text.begin(), text.end()).first - last.begin());
    close_to(common);
    for (std::size_t at = common; at < text.size(); ++at) {
      path.push_back(nodes_.size());
      // A node above the token's own has none: its range is empty, as the next begins at i too.
      nodes_.push_back({0, static_cast<std::int32_t>(i), static_cast<std::uint16_t>(at + 1),
                        static_cast<std::uint8_t>(text[at])});
    }
    depth_ = std::max(depth_, text.size());
    last = text;
  }
  close_to(0);
  nodes_.push_back({0, static_cast<std::int32_t>(tokens_.size()), 0, 0});
}

}  // namespace serving
