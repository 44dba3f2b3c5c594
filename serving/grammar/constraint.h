// Answers that must follow a JSON schema: which tokens may come next.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "serving/core/result.h"
#include "serving/engine/engine.h"

namespace serving {

struct Grammar;   // grammar.h: a compiled schema
class TokenTrie;  // token_trie.h: the vocabulary by bytes

// Compiles a schema (JSON text; JSON Schema 2020-12 as far as docs in schema.h go). bad_input: no
// JSON, a keyword that is not supported (named), or a schema that no finite value satisfies.
Result<std::shared_ptr<const Grammar>> compile_schema(std::string_view schema);

// `tokens[id]` are the bytes of token id; empty: may never come. The views must outlive the trie.
std::shared_ptr<const TokenTrie> make_token_trie(const std::vector<std::string_view>& tokens);

// For one answer. `end_tokens` may come where the value is complete.
std::shared_ptr<Constraint> make_constraint(std::shared_ptr<const Grammar> grammar,
                                            std::shared_ptr<const TokenTrie> trie,
                                            std::vector<Token> end_tokens);

}  // namespace serving
