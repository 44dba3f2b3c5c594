#include "serving/grammar/constraint.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "serving/grammar/grammar.h"
#include "serving/grammar/machine.h"
#include "serving/grammar/schema.h"
#include "serving/grammar/token_trie.h"

namespace serving {
namespace {

constexpr std::size_t kSets = 4096;  // 1 KiB each
constexpr std::size_t kMasks = 64;   // an eighth of the vocabulary in bytes each

class GrammarConstraint final : public Constraint {
 public:
  GrammarConstraint(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const TokenTrie> trie,
                    std::vector<Token> end_tokens)
      : machine_(std::move(grammar)),
        trie_(std::move(trie)),
        end_tokens_(std::move(end_tokens)),
        at_(machine_.start()),
        path_(trie_->depth() + 1) {}

  void allow(std::vector<bool>& tokens) override {
    if (machine_.size() > kSets) {
      masks_.clear();
      at_ = at_ == Machine::kDead ? at_ : machine_.forget_all_but(at_);
    }
    if (masks_.size() > kMasks) masks_.clear();
    const auto [found, fresh] = masks_.try_emplace(at_);
    if (fresh) found->second = mask();
    const std::vector<bool>& mask = found->second;
    for (std::size_t id = 0; id < tokens.size(); ++id) {
      if (id >= mask.size() || !mask[id]) tokens[id] = false;
    }
  }

  void accept(Token token) override {
    if (is_end(token)) {
      ended_ = true;
      return;
    }
    for (char byte : trie_->bytes(token)) {
      if (at_ != Machine::kDead) at_ = machine_.step(at_, static_cast<std::uint8_t>(byte));
    }
  }

  bool complete() const override {
    return ended_ || at_ == Machine::kDead || (machine_.accepts(at_) && !machine_.may_go_on(at_));
  }

 private:
  bool is_end(Token token) const {
    return std::find(end_tokens_.begin(), end_tokens_.end(), token) != end_tokens_.end();
  }

  std::vector<bool> mask() {
    std::vector<bool> allowed(trie_->vocabulary(), false);
    if (at_ == Machine::kDead) return allowed;
    const auto& nodes = trie_->nodes();
    const auto& tokens = trie_->tokens();
    path_[0] = at_;
    for (std::size_t i = 0; i + 1 < nodes.size();) {
      const TokenTrie::Node& node = nodes[i];
      const Machine::Id to = machine_.step(path_[node.depth - 1u], node.byte);
      if (to == Machine::kDead) {
        i = static_cast<std::size_t>(node.skip);
        continue;
      }
      path_[node.depth] = to;
      ++i;
      for (auto at = node.first_token; at < nodes[i].first_token; ++at) {
        allowed[static_cast<std::size_t>(tokens[static_cast<std::size_t>(at)])] = true;
      }
    }
    for (Token token : end_tokens_) {
      if (static_cast<std::size_t>(token) < allowed.size()) {
        allowed[static_cast<std::size_t>(token)] = machine_.accepts(at_);
      }
    }
    return allowed;
  }

  Machine machine_;
  std::shared_ptr<const TokenTrie> trie_;
  std::vector<Token> end_tokens_;
  Machine::Id at_;
  bool ended_ = false;
  std::vector<Machine::Id> path_;  // sets after each byte of the node's path; scratch of mask()
  std::unordered_map<Machine::Id, std::vector<bool>> masks_;
};

}  // namespace

Result<std::shared_ptr<const Grammar>> compile_schema(std::string_view schema) {
  const auto json = nlohmann::ordered_json::parse(schema, nullptr, false);
  if (json.is_discarded()) return fail(ErrorCode::bad_input, "the schema is not valid JSON");
  auto grammar = grammar_of_schema(json);
  if (!grammar) return tl::unexpected<Error>(grammar.error());
  return std::make_shared<const Grammar>(std::move(*grammar));
}

std::shared_ptr<const TokenTrie> make_token_trie(const std::vector<std::string_view>& tokens) {
  return std::make_shared<const TokenTrie>(tokens);
}

std::shared_ptr<Constraint> make_constraint(std::shared_ptr<const Grammar> grammar,
                                            std::shared_ptr<const TokenTrie> trie,
                                            std::vector<Token> end_tokens) {
  return std::make_shared<GrammarConstraint>(std::move(grammar), std::move(trie),
                                             std::move(end_tokens));
}

}  // namespace serving
