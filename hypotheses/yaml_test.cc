#include "hypotheses/yaml.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/rng.h"

namespace hypotheses {
namespace {

// "line:column text" of each mistake, to compare in one go.
std::vector<std::string> told(const YamlDocument& document) {
  std::vector<std::string> lines;
  for (const Mistake& mistake : document.mistakes()) {
    lines.push_back(std::to_string(mistake.line) + ":" + std::to_string(mistake.column) + " " +
                    mistake.text);
  }
  return lines;
}

using Lines = std::vector<std::string>;

std::string only_mistake(std::string_view text) {
  const YamlDocument document = YamlDocument::parse(text, "f.yaml");
  CHECK_FALSE(document.root().present());
  REQUIRE(document.mistakes().size() == 1);
  return told(document)[0];
}

}  // namespace

TEST_CASE("a document reads as written") {
  const auto document = YamlDocument::parse(
      "a: 1\nb: [x, 'y z', \"w\"]\nc: {d: 5%, e: 1m}\nf: &n 2.5\ng: *n\nh: true\n", "f.yaml");
  const YamlNode root = document.root();
  CHECK(root.keys() == Lines{"a", "b", "c", "f", "g", "h"});
  CHECK(root.at("a").integer() == 1);
  REQUIRE(root.at("b").items().size() == 3);
  CHECK(root.at("b").items()[1].text() == "y z");
  CHECK(root.at("c").at("d").fraction() == Approx(0.05));
  CHECK(root.at("c").at("e").seconds() == 60);
  CHECK(root.at("g").number() == 2.5);
  CHECK(root.at("h").boolean() == true);
  CHECK_FALSE(root.at("absent").present());
  CHECK_FALSE(root.at("absent").text());
  CHECK(document.mistakes().empty());
}

TEST_CASE("numbers, durations, fractions") {
  const auto read = [](std::string_view text) {
    return YamlDocument::parse("v: " + std::string(text) + "\n", "f").root().at("v");
  };
  CHECK(read("250ms").seconds() == 0.25);
  CHECK(read("30s").seconds() == 30);
  CHECK(read("1.5h").seconds() == 5400);
  CHECK(read("7").seconds() == 7);
  CHECK(read("0.05").fraction() == 0.05);
  CHECK(read("+5%").fraction() == 0.05);
  CHECK(read("1e3").number() == 1000);
  CHECK(read("-3").integer() == -3);
  for (const char* bad :
       {"s", "-1s", "1d", "1 s", "infs", "nan", "1e999", "1e308h", "ms", "[1]", "''"})
    CHECK_FALSE(read(bad).seconds());
  for (const char* bad : {"%", "5%%", "x", ".inf", "nan%"}) CHECK_FALSE(read(bad).fraction());
  for (const char* bad : {"1.5", "1x", "0x10", "99999999999999999999", "+-1", "{a: 1}"})
    CHECK_FALSE(read(bad).integer());
  for (const char* bad : {"yes", "True", "1", "~"}) CHECK_FALSE(read(bad).boolean());
}

TEST_CASE("all mistakes are reported, in the order of their places") {
  const auto document = YamlDocument::parse(
      "name: x\n"
      "probs: {}\n"
      "count: many\n"
      "name: y\n"
      "flag:\n"
      "list: 3\n"
      "äö: {zz: 1, ttl: soon}\n",
      "f.yaml");
  const YamlNode root = document.root();
  (void)root.at("list").items();
  (void)root.at("flag").boolean();
  (void)root.at("count").integer();
  root.at("äö").keys({"ttl"});
  (void)root.at("äö").at("ttl").seconds();
  root.keys({"name", "probes", "count", "flag", "list", "äö"});
  root.required("probes");
  root.required("probes");  // the same mistake is told once
  CHECK(told(document) ==
        Lines{"1:1 missing key 'probes'", "2:1 unknown key 'probs'; did you mean 'probes'?",
              "3:8 expected a whole number; found 'many'",
              "4:1 duplicate key 'name'; keep one of them",
              "5:1 expected a single value; found nothing", "6:7 expected a list; found '3'",
              "7:6 unknown key 'zz'; known are ttl",
              "7:18 expected a duration like 250ms, 30s, 5m or 8h; found 'soon'"});
  CHECK(to_text(document.mistakes()).starts_with("f.yaml:1:1: missing key 'probes'\nf.yaml:2:1: "));
}

TEST_CASE("a syntax error is the one mistake") {
  CHECK(only_mistake("a: 1\na: 2\nb: [1, 2\nc: 3\n").starts_with("4:2 syntax error"));
  CHECK(only_mistake("a: b: c\n").starts_with("1:5 syntax error"));
  CHECK(only_mistake("a:\n  b: 1\n\tc: 2\n") ==
        "3:1 syntax error: illegal tab when looking for indentation");
  CHECK(
      only_mistake("a: 'x\nb: 1\n").starts_with("1:4 syntax error: a quoted text that never ends"));
  CHECK(only_mistake("a: &k \"x\n").starts_with("1:7 syntax error: a quoted text that never ends"));
  CHECK(only_mistake("a: *no\n").starts_with("1:4 syntax error"));
  CHECK(only_mistake("a: &x [*x]\n").starts_with("1:8 syntax error: an alias inside"));
  CHECK(only_mistake("&k a: 1\nb: *k\n").starts_with("2:4 syntax error"));
  CHECK(only_mistake("? [a]\n: b\n").starts_with("1:3 syntax error: expected a key"));
  CHECK(only_mistake("~: b\n").starts_with("1:1 syntax error: expected a key"));
  CHECK(only_mistake("a: 1\n---\nb: 2\n").starts_with("2:1 syntax error"));
  CHECK(only_mistake("a: 1\nb: \xff\n") ==
        "2:4 syntax error: bytes that are not UTF-8; save the file as UTF-8");
  CHECK(only_mistake("a: \xed\xa0\x80\n").starts_with("1:4 syntax error: bytes"));
  CHECK(only_mistake("a: \xc0\x80\n").starts_with("1:4 syntax error: bytes"));
  CHECK(only_mistake("a: \xf0\x9f\n").starts_with("1:4 syntax error: bytes"));
  CHECK(only_mistake(std::string_view("a: \0\n", 5)).starts_with("1:4 syntax error: a control"));
}

TEST_CASE("an empty file is a mistake") {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "~\n", "\xef\xbb\xbf"})
    CHECK(only_mistake(text) == "1:1 the file is empty; expected a map of keys");
}

TEST_CASE("hostile input is refused, quickly and whole") {
  CHECK_THAT(only_mistake(std::string((1 << 20) + 1, 'a')), Catch::Contains("at most 1048576"));
  std::string nested;
  for (int i = 0; i < 65; ++i) nested += "[";
  CHECK_THAT(only_mistake("a: " + nested), Catch::Contains("syntax error"));
  for (int i = 0; i < 65; ++i) nested += "]";
  CHECK_THAT(only_mistake("a: " + nested), Catch::Contains("nested deeper than 64"));
  for (std::string piece :
       {"[", "{", "- ", "? ", "{a: ", "a: ", "]", ",", ": ", "&a ", "!a ", "\""}) {
    std::string text;
    while (text.size() < 200000) text += piece;
    INFO(piece);
    CHECK(YamlDocument::parse(text, "f").mistakes().size() == 1);
  }
  // Each level names the one before: neither the size nor the depth multiplies.
  std::string chain = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 20000; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    chain += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before +
             "]\n";
  }
  CHECK(YamlDocument::parse(chain, "f").mistakes().empty());
}

TEST_CASE("mistakes are listed up to a number") {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "a: 1\n";
  const auto document = YamlDocument::parse(text, "f");
  CHECK(document.mistakes().size() == 100);
  CHECK_THAT(to_text(document.mistakes()), Catch::EndsWith("only so many are listed"));
}

TEST_CASE("damaged documents never crash the reader") {
  const std::string whole =
      "a: &x {b: [1, 'two', \"three\"], c: 5%}\nd: *x\n# é\ne:\n  - f: |\n      text\n    g: >-\n  "
      "    t\n";
  const std::uint64_t seed = 20261201;
  CAPTURE(seed);
  base::Rng rng(seed);
  constexpr std::string_view kBytes = "{}[]:,-'\"&*!|>%@`#?~ \t\n\\x\xc3\xa9";
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (std::size_t edits = 1 + rng.below(6); edits > 0; --edits) {
      const std::size_t at = rng.below(text.size());
      if (rng.coin())
        text[at] = kBytes[rng.below(kBytes.size())];
      else if (rng.coin())
        text.erase(at, 1 + rng.below(5));
      else
        text.insert(at, 1, kBytes[rng.below(kBytes.size())]);
      if (text.empty()) text = "x";
    }
    const auto document = YamlDocument::parse(text, "f");
    CHECK(document.root().present() == !document.root().keys().empty());
    auto set = set_scalar(text, "a.c", "7", "f");
    if (set) CHECK(get_scalar(*set, "a.c", "f").value() == "7");
  }
}

TEST_CASE("one value is replaced in place") {
  struct Row {
    const char *before, *key, *value, *after;
  };
  const Row rows[] = {
      {"a: 16 # tiles\nb: 1\n", "a", "128", "a: 128 # tiles\nb: 1\n"},
      {"a: 16\r\nb: 1 # x\r\n", "b", "2", "a: 16\r\nb: 2 # x\r\n"},
      {"k.v: 1\nk: {v: 2}\n", "k.v", "3", "k.v: 3\nk: {v: 2}\n"},
      {"k:\n  v: 2   # why\n  w: 3\n", "k.v", "5", "k:\n  v: 5   # why\n  w: 3\n"},
      {"{a: {b: 1}, c: 2}", "a.b", "x", "{a: {b: x}, c: 2}"},
      {"a: 'x'\n", "a", "it's", "a: 'it''s'\n"},
      {"a: \"x\" # c\n", "a", "say \"hi\"\n", "a: \"say \\\"hi\\\"\\x0a\" # c\n"},
      {"a: x\n", "a", "b: c", "a: \"b: c\"\n"},
      {"a: x\n", "a", "1 # 2", "a: \"1 # 2\"\n"},
      {"a: [x]\nb: {c: d}\n", "b.c", "1, e: 2", "a: [x]\nb: {c: \"1, e: 2\"}\n"},
      {"a: x\n", "a", "null", "a: \"null\"\n"},
      {"a: x\n", "a", "", "a: \"\"\n"},
      {"a: x\n", "a", "- y", "a: \"- y\"\n"},
      {"a: x\n", "a", "true", "a: true\n"},
      {"é: ü # ö\nb: 1\n", "b", "ß", "é: ü # ö\nb: ß\n"},
      {"\xef\xbb\xbf"
       "a: 1\n",
       "a", "2",
       "\xef\xbb\xbf"
       "a: 2\n"},
      {"a: 1", "a", "22", "a: 22"},
  };
  for (const Row& row : rows) {
    INFO(row.before);
    const auto set = set_scalar(row.before, row.key, row.value, "f");
    REQUIRE(set);
    CHECK(*set == row.after);
    CHECK(get_scalar(*set, row.key, "f").value() == row.value);
  }
}

TEST_CASE("a value that cannot be replaced safely is refused") {
  const auto code = [](const char* text, const char* key, const char* value = "1") {
    const auto set = set_scalar(text, key, value, "knobs.yaml");
    REQUIRE_FALSE(set);
    CHECK_THAT(set.error().text(), Catch::StartsWith("knobs.yaml:"));
    return set.error().code;
  };
  using base::ErrorCode;
  CHECK(code("a: 1\n", "b") == ErrorCode::not_found);
  CHECK(code("a: 1\n", "a.b") == ErrorCode::not_found);
  CHECK(code("a: 1\n", "") == ErrorCode::not_found);
  CHECK(code("a: {b: 1}\n", "a") == ErrorCode::bad_input);
  CHECK(code("a:\nb: 1\n", "a") == ErrorCode::bad_input);
  CHECK(code("a: &x 1\nb: *x\n", "a") == ErrorCode::bad_input);
  CHECK(code("a: &x 1\nb: *x\n", "b") == ErrorCode::bad_input);
  CHECK(code("a: &x {c: 1}\nb: *x\n", "b.c") == ErrorCode::bad_input);
  CHECK(code("a: !!str 1\n", "a") == ErrorCode::bad_input);
  CHECK(code("a: |\n  x\n", "a") == ErrorCode::bad_input);
  CHECK(code("a: x\n  y\n", "a") == ErrorCode::bad_input);
  CHECK(code("a: 'x\n  y'\n", "a") == ErrorCode::bad_input);
  CHECK(code("a: 1\na: 2\n", "a") == ErrorCode::bad_input);
  CHECK(code("a: [1\n", "a") == ErrorCode::bad_input);
  CHECK(code("a: 1\n", "a", "\xff") == ErrorCode::bad_input);
}

}  // namespace hypotheses
