#include "serving/tokenizer/utf8_stream.h"

#include <catch2/catch.hpp>
#include <random>

#include "serving/tokenizer/unicode.h"

using namespace serving::tokenizer;

namespace {

std::string whole(std::string_view bytes) {
  Utf8Stream stream;
  std::string text = stream.add(bytes);
  return text + stream.finish();
}

const std::string kSubstitute = "\xEF\xBF\xBD";

}  // namespace

TEST_CASE("a character that is not whole waits for its bytes") {
  Utf8Stream stream;
  CHECK(stream.add("a\xF0\x9F") == "a");
  CHECK(stream.add("\x98").empty());
  CHECK(stream.add("\x80z") == "\xF0\x9F\x98\x80z");
  CHECK(stream.finish().empty());
  CHECK(stream.add("\xE2\x82").empty());
  CHECK(stream.finish() == kSubstitute);
  CHECK(stream.finish().empty());
}

// Unicode 15, table 3-8 and 3.9: one U+FFFD for each maximal part.
TEST_CASE("bytes that can never be a character become U+FFFD at once") {
  Utf8Stream stream;
  CHECK(stream.add("\x80") == kSubstitute);
  CHECK(stream.add("\xC0") == kSubstitute);
  CHECK(whole("\xF4\x91") == kSubstitute + kSubstitute);
  CHECK(whole("\xED\xA0\x80") == kSubstitute + kSubstitute + kSubstitute);  // a surrogate
  CHECK(whole("\xE0\x80") == kSubstitute + kSubstitute);                    // overlong
  CHECK(whole("\xE2\x82"
              "A") == kSubstitute + "A");
  CHECK(whole("\xF0\x9F\x98"
              "A") == kSubstitute + "A");
}

TEST_CASE("how bytes are cut into pieces changes nothing, and all output is valid") {
  const unsigned seed = 32;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::string alphabet = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF\xED\xA0";
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (unsigned n = random() % 12; n > 0; --n) bytes += alphabet[random() % alphabet.size()];
    Utf8Stream stream;
    std::string text;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = random() % 4;
      text += stream.add(bytes.substr(at, size));
      at += size;
    }
    text += stream.finish();
    REQUIRE(text == whole(bytes));
    for (std::string_view left = text; !left.empty();) {
      const Decoded next = decode_utf8(left);
      REQUIRE(next.valid);
      left.remove_prefix(next.size);
    }
  }
}
