// What a schema allows, byte by byte, and what of a schema is refused.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "serving/grammar/constraint.h"
#include "serving/grammar/machine.h"

namespace serving {
namespace {

// Whether `text` is a whole answer by this schema.
bool takes(const std::string& schema, const std::string& text) {
  INFO(schema);
  auto grammar = compile_schema(schema);
  if (!grammar) FAIL(grammar.error().message);
  Machine machine(*grammar);
  Machine::Id at = machine.start();
  for (char byte : text) {
    at = machine.step(at, static_cast<std::uint8_t>(byte));
    if (at == Machine::kDead) return false;
  }
  return machine.accepts(at);
}

std::string refusal(const std::string& schema) {
  auto grammar = compile_schema(schema);
  return grammar ? "taken" : grammar.error().message;
}

struct Case {
  const char* schema;
  std::vector<const char*> taken, not_taken;
};

}  // namespace

TEST_CASE("each keyword takes its values and no others") {
  const std::vector<Case> cases = {
      {R"({"type": "integer"})",
       {"0", "-7", "123456789012345"},
       {"01", "-", "1.0", "1e3", "\"1\"", "1234567890123456"}},
      {R"({"type": "number"})", {"0", "-0.5", "1e10", "2.5E-3"}, {".5", "1.", "1e", "1e100", "+1"}},
      {R"({"type": "boolean"})", {"true", "false"}, {"True", "null", "tru"}},
      {R"({"type": ["string", "null"]})", {"\"a\"", "null", "\"\""}, {"nil", "0", "\"a"}},
      {R"({"type": "string"})",
       {"\"\\u00e9\"", "\"\\ud83d\\ude00\"", "\"\xc3\xa9\"", "\"\\\"\"", "\"\xf0\x9f\x98\x80\""},
       {"\"\\ud83d\"", "\"\\ude00\"", "\"\xc3\"", "\"\xff\"", "\"\n\"", "\"\\x\"",
        "\"\xed\xa0\x80\"", "\"\xc0\xaf\""}},
      {R"({"type": "string", "minLength": 2, "maxLength": 3})",
       {"\"ab\"", "\"\xc3\xa9\xc3\xa9\xc3\xa9\"", "\"\\n\\u0041\""},
       {"\"a\"", "\"abcd\"", "\"\""}},
      {R"({"enum": ["a", 1, null, {"x": [1]}]})",
       {"\"a\"", "1", "null", "{\"x\":[1]}"},
       {"\"b\"", "2", "{\"x\":[]}"}},
      {R"({"type": "string", "enum": ["a", 1]})", {"\"a\""}, {"1"}},
      {R"({"const": "yes"})", {"\"yes\""}, {"\"no\"", "yes"}},
      {R"({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2})",
       {"[1]", "[1,2]", "[1, 2]", "[\n  1,\n  2\n]"},
       {"[]", "[1,2,3]", "[1,]", "[1  ]", "[\"a\"]"}},
      {R"({"type": "array", "maxItems": 0})", {"[]", "[ ]"}, {"[1]"}},
      {R"({"anyOf": [{"type": "integer"}, {"const": "x"}]})", {"3", "\"x\""}, {"\"y\"", "true"}},
      {R"({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "null"}}})", {"null"}, {"0"}},
      {"true", {"{}", "[1,{\"a\":null}]", "\"s\"", "-1.5"}, {"", "{", "nul"}},
  };
  for (const Case& c : cases) {
    for (const char* text : c.taken) {
      INFO(c.schema << " should take " << text);
      CHECK(takes(c.schema, text));
    }
    for (const char* text : c.not_taken) {
      INFO(c.schema << " should not take " << text);
      CHECK_FALSE(takes(c.schema, text));
    }
  }
}

TEST_CASE("objects: order, what is optional, and other properties") {
  const std::string two = R"({"type": "object", "required": ["b"],
      "properties": {"a": {"type": "integer"}, "b": {"type": "null"}}})";
  CHECK(takes(two, R"({"a":1,"b":null})"));
  CHECK(takes(two, R"({"b": null})"));
  CHECK(takes(two, "{\n    \"b\": null\n}"));
  CHECK_FALSE(takes(two, R"({"a":1})"));
  CHECK_FALSE(takes(two, R"({"b":null,"a":1})"));
  CHECK_FALSE(takes(two, R"({"b":null,"c":1})"));
  CHECK_FALSE(takes(two, R"({,"b":null})"));
  CHECK_FALSE(takes(two, R"({"b":null,})"));

  const std::string others = R"({"properties": {"ab": {"type": "null"}, "abc": true},
      "additionalProperties": {"type": "integer"}})";
  CHECK(takes(others, R"({"ab":null,"a":1,"abx":2,"":3,"b":4})"));
  CHECK(takes(others, R"({"a":1})"));
  CHECK_FALSE(takes(others, R"({"ab":1})"));
  CHECK_FALSE(takes(others, R"({"x":1,"ab":1})"));
  CHECK_FALSE(takes(others, R"({"\u0061b":1})"));
  CHECK_FALSE(takes(others, R"({"x":"1"})"));

  const std::string undeclared = R"({"type": "object", "required": ["x"]})";
  CHECK(takes(undeclared, R"({"x":[]})"));
  CHECK_FALSE(takes(undeclared, "{}"));
  CHECK(takes(R"({"type": "object"})", R"({"any":{"thing":[1,2]}})"));
}

TEST_CASE("a property that nothing satisfies is left out, not begun") {
  const std::string schema = R"({"properties": {"never": false, "a": true}})";
  CHECK(takes(schema, R"({"a":0})"));
  auto grammar = compile_schema(schema);
  Machine machine(*grammar);
  Machine::Id at = machine.start();
  for (char byte : std::string("{\"")) at = machine.step(at, static_cast<std::uint8_t>(byte));
  CHECK(machine.step(at, 'n') == Machine::kDead);
}

TEST_CASE("schemas may refer to themselves") {
  const std::string tree = R"({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object",
      "properties": {"v": {"type": "integer"}, "kids": {"type": "array",
      "items": {"$ref": "#/$defs/node"}}}, "required": ["v"]}}})";
  CHECK(takes(tree, R"({"v":1,"kids":[{"v":2},{"v":3,"kids":[{"v":4}]}]})"));
  CHECK_FALSE(takes(tree, R"({"v":1,"kids":[{"kids":[]}]})"));
  const std::string nested = R"({"anyOf": [{"type": "null"}, {"type": "array",
      "items": {"$ref": "#"}}]})";
  CHECK(takes(nested, "[null,[[],[null]]]"));
}

TEST_CASE("what cannot be held is refused by name") {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {R"({"type": "string", "pattern": "a+"})", "\"pattern\" at #"},
      {R"({"properties": {"d": {"type": "string", "format": "date"}}})",
       "\"format\" at #/properties/d"},
      {R"({"type": "integer", "minimum": 0})", "minimum"},
      {R"({"not": {}})", "\"not\""},
      {R"({"type": "object", "patternProperties": {}})", "patternProperties"},
      {R"({"anyOf": [true], "properties": {}})",
       "\"properties\" at # of the schema is not supported beside \"anyOf\""},
      {R"({"type": "strin"})", "\"type\""},
      {R"({"type": "array", "maxItems": -1})", "\"maxItems\""},
      {R"({"type": "array", "uniqueItems": true})", "\"uniqueItems\""},
      {R"({"$ref": "#/$defs/none"})", "points to nothing"},
      {R"({"$ref": "http://example.org/s"})", "points to nothing"},
      {R"({"$ref": "#"})", "finite"},
      {R"({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}})",
       "leads back to itself"},
      {R"({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}})", "finite"},
      {R"({"required": ["x"], "additionalProperties": false})", "finite"},
      {R"({"type": "array", "minItems": 3, "maxItems": 2})", "finite"},
      {"false", "finite"},
      {R"({"oneOf": [{"type": "object", "required": 5}, {"type": "object", "required": ["a"]}]})",
       "\"required\" at #/oneOf/0"},
      {R"({"properties": {"a": {"oneOf": [{"type": "object", "required": ["b"], "properties": {"b":
          {"$ref": "#/properties/z"}}}, {"type": "object", "required": ["b"], "properties": {"b":
          {"type": "null"}}}]}, "z": {"type": {}}}})",
       "\"type\" at #/properties/z"},
      {"7", "must be an object"},
      {"{", "not valid JSON"},
  };
  for (const auto& [schema, message] : cases) {
    INFO(schema);
    CHECK_THAT(refusal(schema), Catch::Contains(message));
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += R"({"items": )";
  deep += "{}" + std::string(100, '}');
  CHECK_THAT(refusal(deep), Catch::Contains("nested deeper"));
  CHECK_THAT(refusal(R"({"const": ")" + std::string(300'000, 'x') + "\"}"),
             Catch::Contains("too large"));
  CHECK_THAT(refusal(R"({"properties": {")" + std::string(100'000, 'x') + "\": true}}"),
             Catch::Contains("too long"));
}

TEST_CASE("oneOf is taken only where its branches exclude each other") {
  const auto one_of = [](const std::string& a, const std::string& b) {
    return refusal(R"({"oneOf": [)" + a + ", " + b + "]}");
  };
  const std::string text = R"({"type": "string"})", integer = R"({"type": "integer"})";
  CHECK(one_of(text, integer) == "taken");
  CHECK(one_of(R"({"const": 1})", R"({"enum": [2, "1"]})") == "taken");
  CHECK(one_of(R"({"const": "a"})", integer) == "taken");
  const auto tagged = [](const std::string& tag) {
    return R"({"type": "object", "required": ["t"], "properties": {"t": {"const": ")" + tag +
           R"("}, "v": true}})";
  };
  CHECK(one_of(tagged("a"), tagged("b")) == "taken");
  const std::string closed_a =
      R"({"type": "object", "required": ["a"], "additionalProperties": false,
      "properties": {"a": true}})";
  const std::string closed_b =
      R"({"type": "object", "required": ["b"], "additionalProperties": false,
      "properties": {"b": true}})";
  CHECK(one_of(closed_a, closed_b) == "taken");

  std::string many = R"({"const": 0})";
  for (int i = 1; i < 65; ++i) many += R"(, {"const": )" + std::to_string(i) + "}";
  CHECK_THAT(refusal(R"({"oneOf": [)" + many + "]}"), Catch::Contains("more than 64 branches"));
  CHECK_THAT(one_of(tagged("a"), tagged("a")), Catch::Contains("branches 0 and 1"));
  CHECK_THAT(one_of(integer, R"({"type": "number"})"), Catch::Contains("branches 0 and 1"));
  CHECK_THAT(one_of(R"({"const": 1.0})", integer), Catch::Contains("branches 0 and 1"));
  CHECK_THAT(one_of(text, R"({"properties": {}})"), Catch::Contains("branches 0 and 1"));
  CHECK_THAT(one_of(text, R"({"anyOf": [true]})"), Catch::Contains("branches 0 and 1"));
}

}  // namespace serving
