#include "serving/tokenizer/pre_tokenizer.h"

#include <catch2/catch.hpp>

using namespace serving::tokenizer;

namespace {

struct Case {
  PreTokenizer kind;
  const char* words;  // separated by '|'
};

constexpr auto kGpt2 = PreTokenizer::gpt2;
constexpr auto kLlama3 = PreTokenizer::llama3;
constexpr auto kQwen2 = PreTokenizer::qwen2;
constexpr auto kKimi = PreTokenizer::kimi_k2;

// What the published expressions give in a regular expression engine (V8's).
const Case kCases[] = {
    {kGpt2, "Hello| world|,| it|'s| 12345|!"},
    {kLlama3, "Hello| world|,| it|'s| |123|45|!"},
    {kQwen2, "Hello| world|,| it|'s| |1|2|3|4|5|!"},
    {kKimi, "Hello| world|,| it's| |123|45|!"},
    {kGpt2, "I|'|LL| go|\n\n | there| | now| \n"},
    {kLlama3, "I|'LL| go|\n\n| | there| | now| \n"},
    {kKimi, "I'LL| go|\n\n| | there| | now| \n"},
    {kGpt2, "x|=|3|.|14| | ;|\r\n|\t|end|   "},
    {kLlama3, "x|=|3|.|14| | ;\r\n|\tend|   "},
    {kQwen2, "x|=|3|.|1|4| | ;\r\n|\tend|   "},
    {kGpt2, "__|init|__(|self|)|\n   | pass"},
    {kLlama3, "__|init|__(|self|)\n|   | pass"},
    {kKimi, "HTMLParser| isn't| Camel|Case'D"},
    {kLlama3, "na\u00EFve| caf\u00E9| \u00DCn\u00EF|'S"},
    {kKimi, "na\u00EFve| caf\u00E9| \u00DCn\u00EF'S"},
    {kLlama3, "\u6F22\u5B57\u304B\u306A\u6587ABCdef"},
    {kKimi, "\u6F22\u5B57|\u304B\u306A|\u6587|ABCdef"},
    {kGpt2, "\u00A0|tab|\t\t| x"},
    {kLlama3, "\u00A0tab|\t\t| x"},
    {kGpt2, "a|\u0301|e| \uD55C\uAD6D\uC5B4| 2\u00B2"},
    {kQwen2, "a|\u0301e| \uD55C\uAD6D\uC5B4| |2|\u00B2"},
    {kKimi, "\u0301|XY"},  // the first alternative may take less than the second would
    {kKimi, "a\u0301e| \uD55C\uAD6D\uC5B4| |2\u00B2"},
};

}  // namespace

TEST_CASE("words are cut as the published expressions cut them") {
  for (const Case& c : kCases) {
    std::vector<std::string> expected(1);
    for (char letter : std::string(c.words)) {
      letter == '|' ? expected.emplace_back() : expected.back() += letter;
    }
    std::string text;
    for (const std::string& word : expected) text += word;
    const auto words = split_words(c.kind, text);
    INFO(c.words);
    CHECK(std::vector<std::string>(words.begin(), words.end()) == expected);
  }
}

TEST_CASE("bytes that are no characters are words like any other") {
  for (PreTokenizer kind : {kGpt2, kLlama3, kQwen2, kKimi}) {
    const std::string text = "a\xFF\xC3 b\xF0\x9F";
    std::string joined;
    for (std::string_view word : split_words(kind, text)) joined += word;
    CHECK(joined == text);
  }
  CHECK(split_words(kGpt2, "").empty());
}
