// The vocabulary as a tree of bytes, laid out in preorder: a walk that knows after a byte that no
// token below can come jumps over all of them at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "serving/model/model.h"

namespace serving {

class TokenTrie {
 public:
  struct Node {
    std::int32_t skip = 0;         // the first node that is not below this one
    std::int32_t first_token = 0;  // those of this node are tokens() from here to the next node's
    std::uint16_t depth = 0;       // bytes from the root, 1 for its children
    std::uint8_t byte = 0;
  };

  // `tokens[id]` are the bytes of id. Tokens of no byte, or of more than 65535, are left out.
  explicit TokenTrie(const std::vector<std::string_view>& tokens);

  const std::vector<Node>& nodes() const { return nodes_; }  // and one past the end
  const std::vector<Token>& tokens() const { return tokens_; }
  std::string_view bytes(Token token) const { return bytes_[static_cast<std::size_t>(token)]; }
  std::size_t vocabulary() const { return bytes_.size(); }
  std::size_t depth() const { return depth_; }

 private:
  std::vector<Node> nodes_;
  std::vector<Token> tokens_;  // in the order of their bytes
  std::vector<std::string_view> bytes_;
  std::size_t depth_ = 0;
};

}  // namespace serving
