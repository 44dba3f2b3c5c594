// What a person types into a search box, as an FTS5 expression.
#pragma once

#include <string>
#include <string_view>

namespace store {

// Every word must occur, as the beginning of a word: `v_tile 128` -> `"v_tile"* "128"*`. Nothing of
// the text acts as an operator. Empty when it holds no letter or digit; words beyond the 32nd are
// dropped.
std::string search_expression(std::string_view text);

}  // namespace store
