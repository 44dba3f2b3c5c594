// Random walks: whatever a constraint lets through parses and validates.
#include "serving/grammar/constraint.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "serving/grammar/test_validator.h"
#include "serving/grammar/token_trie.h"

namespace serving {
namespace {

using nlohmann::json;

constexpr Token kEnd = 0;  // a control token; it has no bytes

// Every byte, and pieces as a tokenizer learns them, some of which end one thing and begin another.
std::vector<std::string> small_vocabulary() {
  std::vector<std::string> tokens = {""};
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* piece :
       {"{\"",  "\":",      "\": ",   "\",\"", "\"}",    "}]",     "},{",  "],",   "[[",  "]]",
        "null", "true",     "false",  "tr",    " \"",    "name",   "kids", "12",   "0.5", ", ",
        "\n  ", "\xc3\xa9", "\xa9\"", "abc",   "\"a\":", "\"b\":", "type", "\\u00"}) {
    tokens.emplace_back(piece);
  }
  return tokens;
}

std::vector<std::string_view> views(const std::vector<std::string>& tokens) {
  return {tokens.begin(), tokens.end()};
}

// A random answer; `whole` says whether it came to its end within `most` tokens. Prefers what
// closes things, or most walks would go ever deeper.
struct Walk {
  std::string text;
  bool whole = false;
};
Walk walk(Constraint& constraint, const std::vector<std::string>& tokens, int most,
          std::mt19937_64& random) {
  Walk result;
  for (int step = 0; step < most; ++step) {
    if (constraint.complete()) break;
    std::vector<bool> mask(tokens.size() + 3, true);
    constraint.allow(mask);
    for (std::size_t id = tokens.size(); id < mask.size(); ++id) REQUIRE_FALSE(mask[id]);
    std::vector<Token> allowed, closing;
    for (std::size_t id = 0; id < tokens.size(); ++id) {
      if (!mask[id]) continue;
      allowed.push_back(static_cast<Token>(id));
      const bool closes =
          id == kEnd || tokens[id] == "\"" || tokens[id] == "]" || tokens[id] == "}";
      if (closes) closing.push_back(static_cast<Token>(id));
    }
    INFO("after: " << result.text);
    REQUIRE_FALSE(allowed.empty());
    const auto& pool = closing.empty() || random() % 3 != 0 ? allowed : closing;
    const Token token = pool[random() % pool.size()];
    constraint.accept(token);
    result.text += tokens[static_cast<std::size_t>(token)];
  }
  result.whole = constraint.complete();
  return result;
}

const std::vector<const char*> kSchemas = {
    R"({"type": "object"})",
    R"(true)",
    R"({"type": "integer"})",
    R"({"type": "number"})",
    R"({"type": ["string", "null"], "maxLength": 5})",
    R"({"type": "array", "items": {"type": ["integer", "boolean"]}, "minItems": 2, "maxItems": 4})",
    R"({"type": "object", "properties": {"name": {"type": "string", "minLength": 1}, "a": {"enum":
        ["x", 2.5, null, "\u00e9\n"]}, "b": {"type": "array", "items": {"type": "number"}}},
        "required": ["name", "b"]})",
    R"({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties":
        {"type": "boolean"}})",
    R"({"anyOf": [{"type": "object", "properties": {"a": {"const": "abc"}}, "required": ["a"]},
        {"type": "array", "items": {"$ref": "#"}, "maxItems": 2}, {"type": "null"}]})",
    R"({"oneOf": [{"type": "object", "properties": {"type": {"const": "a"}, "v": {"type":
        "integer"}}, "required": ["type"]}, {"type": "object", "properties": {"type": {"const":
        "b"}, "name": {"type": "string"}}, "required": ["type", "name"]}]})",
    R"({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"name":
        {"type": "string", "maxLength": 3}, "kids": {"type": "array", "items": {"$ref":
        "#/$defs/node"}, "maxItems": 2}}, "required": ["name", "kids"], "additionalProperties":
        false}}})",
    R"({"required": ["a", "b"], "properties": {"b": {"type": "boolean"}}, "additionalProperties":
        {"type": "integer"}})",
};

}  // namespace

TEST_CASE("every answer that a random walk makes parses and validates") {
  const std::uint64_t seed = 20261201;
  std::cout << "random walks: seed " << seed << '\n';
  std::mt19937_64 random(seed);
  const auto tokens = small_vocabulary();
  const auto trie = make_token_trie(views(tokens));
  for (const char* schema_text : kSchemas) {
    INFO(schema_text);
    const json schema = json::parse(schema_text);
    auto grammar = compile_schema(schema_text);
    if (!grammar) FAIL(grammar.error().message);
    int whole = 0;
    std::set<std::string> different;
    for (int i = 0; i < 40; ++i) {
      const auto constraint = make_constraint(*grammar, trie, {kEnd});
      const Walk result = walk(*constraint, tokens, 400, random);
      if (!result.whole) continue;
      ++whole;
      different.insert(result.text);
      INFO(result.text);
      json value;
      REQUIRE_NOTHROW(value = json::parse(result.text));
      CHECK(broken_rule(schema, value, schema) == "");
    }
    CHECK(whole >= 20);
    CHECK(different.size() >= 10);
  }
}

TEST_CASE("the validator of these tests does find fault") {
  const auto fault = [](const char* schema, const char* value) {
    const json rule = json::parse(schema);
    return broken_rule(rule, json::parse(value), rule);
  };
  CHECK(fault(R"({"type": "integer"})", "1.5") != "");
  CHECK(fault(R"({"required": ["a"]})", "{}") != "");
  CHECK(fault(R"({"oneOf": [true, true]})", "1") == "oneOf");
  CHECK(fault(R"({"maxLength": 1})", "\"\xc3\xa9\"") == "");
  CHECK(fault(R"({"additionalProperties": false})", R"({"a": 1})") != "");
}

TEST_CASE("an end token may come exactly where the value is complete") {
  const auto tokens = small_vocabulary();
  const auto trie = make_token_trie(views(tokens));
  const auto constraint = make_constraint(*compile_schema(R"({"type": "integer"})"), trie, {kEnd});
  const auto may_end = [&] {
    std::vector<bool> mask(tokens.size(), true);
    constraint->allow(mask);
    return static_cast<bool>(mask[kEnd]);
  };
  CHECK_FALSE(may_end());
  constraint->accept(1 + '-');
  CHECK_FALSE(may_end());
  constraint->accept(1 + '4');
  CHECK(may_end());
  CHECK_FALSE(constraint->complete());
  constraint->accept(kEnd);
  CHECK(constraint->complete());
}

TEST_CASE("tokens are cut anywhere: the mask is that of trying each token byte by byte") {
  const std::uint64_t seed = 7;
  std::cout << "mask by bytes: seed " << seed << '\n';
  std::mt19937_64 random(seed);
  auto tokens = small_vocabulary();
  for (int i = 0; i < 300; ++i) {  // random joins, also of the same bytes twice
    tokens.push_back(tokens[random() % 280] + tokens[random() % tokens.size()]);
  }
  std::vector<std::string> bytes(tokens.begin(), tokens.begin() + 257);
  const auto trie = make_token_trie(views(tokens));
  const auto byte_trie = make_token_trie(views(bytes));
  const auto grammar = *compile_schema(kSchemas[6]);
  const auto whole = make_constraint(grammar, trie, {kEnd});
  std::string text;
  for (int step = 0; step < 30 && !whole->complete(); ++step) {
    std::vector<bool> mask(tokens.size(), true);
    whole->allow(mask);
    std::vector<Token> allowed;
    for (std::size_t id = 1; id < tokens.size(); ++id) {
      const auto slow = make_constraint(grammar, byte_trie, {kEnd});
      bool taken = true;
      for (char c : text) slow->accept(1 + static_cast<unsigned char>(c));
      for (char c : tokens[id]) {
        std::vector<bool> one(bytes.size(), true);
        if (taken) slow->allow(one);
        const Token byte = 1 + static_cast<unsigned char>(c);
        taken = taken && one[static_cast<std::size_t>(byte)];
        if (taken) slow->accept(byte);
      }
      INFO("token \"" << tokens[id] << "\" after \"" << text << "\"");
      REQUIRE(mask[id] == taken);
      if (taken) allowed.push_back(static_cast<Token>(id));
      if (id % 3 != 0 && id > 300) ++id;  // a part of the joins suffices
    }
    const Token next = allowed[random() % allowed.size()];
    whole->accept(next);
    text += tokens[static_cast<std::size_t>(next)];
  }
}

TEST_CASE("a long answer does not gather memory, and forgetting changes nothing") {
  const auto tokens = small_vocabulary();
  const auto trie = make_token_trie(views(tokens));
  const auto constraint =
      make_constraint(*compile_schema(R"({"type": "string", "maxLength": 800})"), trie, {kEnd});
  constraint->accept(1 + '"');
  for (int i = 0; i < 800; ++i) {
    std::vector<bool> mask(tokens.size(), true);
    constraint->allow(mask);
    REQUIRE(mask[1 + 'x']);
    constraint->accept(1 + 'x');
  }
  std::vector<bool> mask(tokens.size(), true);
  constraint->allow(mask);
  CHECK_FALSE(mask[1 + 'x']);
  CHECK(mask[1 + '"']);
}

// Prints what a step costs with a vocabulary of 32,000 and fails only where it is out of all
// proportion, as the machine may be busy.
TEST_CASE("the cost of a step at 32,000 tokens") {
  std::mt19937_64 random(3);
  std::vector<std::string> tokens = small_vocabulary();
  while (tokens.size() < 32'000) {
    std::string word(random() % 2 ? " " : "");
    for (std::size_t i = 1 + random() % 9; i > 0; --i)
      word += static_cast<char>('a' + random() % 26);
    if (random() % 20 == 0) word += "\":";
    tokens.push_back(std::move(word));
  }
  const auto trie = make_token_trie(views(tokens));
  std::vector<double> costs_ms;
  for (int i = 0; i < 3; ++i) {
    const auto constraint = make_constraint(*compile_schema(kSchemas[6]), trie, {kEnd});
    for (int step = 0; step < 25 && !constraint->complete(); ++step) {
      std::vector<bool> mask(tokens.size(), true);
      const auto begin = std::chrono::steady_clock::now();
      constraint->allow(mask);
      costs_ms.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
              .count());
      std::vector<Token> allowed;
      for (std::size_t id = 0; id < tokens.size(); ++id) {
        if (mask[id]) allowed.push_back(static_cast<Token>(id));
      }
      REQUIRE_FALSE(allowed.empty());
      constraint->accept(allowed[random() % allowed.size()]);
    }
  }
  std::sort(costs_ms.begin(), costs_ms.end());
  std::cout << "grammar step at 32,000 tokens: median " << costs_ms[costs_ms.size() / 2]
            << " ms, p90 " << costs_ms[costs_ms.size() * 9 / 10] << " ms, max " << costs_ms.back()
            << " ms of " << costs_ms.size() << '\n';
  CHECK(costs_ms[costs_ms.size() / 2] < 20);
}

}  // namespace serving
