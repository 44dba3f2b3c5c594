// Every way to damage a file that we could think of, and what the refusal must say.
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>

#include "serving/gguf/test_sample.h"

using namespace serving;
using namespace serving::gguf;

namespace {

// Where the bytes after a length-prefixed string begin: a metadata value's type, a tensor's rank.
std::size_t after(const std::string& bytes, const std::string& name) {
  std::string needle(8, '\0');
  const std::uint64_t length = name.size();
  std::memcpy(needle.data(), &length, 8);
  const std::size_t at = bytes.find(needle + name);
  REQUIRE(at != std::string::npos);
  return at + 8 + name.size();
}

template <class T>
void patch(std::string& bytes, std::size_t at, T value) {
  REQUIRE(at + sizeof value <= bytes.size());
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Of a tensor of the given rank: after its name, the rank, the dims, the type, the offset.
std::size_t dim_at(const std::string& b, const char* name, int i) {
  return after(b, name) + 4 + 8 * i;
}
std::size_t type_at(const std::string& b, const char* name, int rank) {
  return after(b, name) + 4 + 8 * rank;
}
std::size_t offset_at(const std::string& b, const char* name, int rank) {
  return type_at(b, name, rank) + 4;
}

struct Damage {
  const char* what;
  std::function<void(std::string&)> apply;
  const char* message;  // must be part of the error
};

// size: one table, a row a kind of damage
const std::vector<Damage>& damages() {
  using S = std::string;
  static const std::vector<Damage> kDamages = {
      {"empty", [](S& b) { b.clear(); }, "file ends within the magic number"},
      {"other magic", [](S& b) { b[0] = 'X'; }, "does not start with 'GGUF'"},
      {"version 1", [](S& b) { patch<std::uint32_t>(b, 4, 1); }, "version 2 or 3, found 1"},
      {"version 4", [](S& b) { patch<std::uint32_t>(b, 4, 4); }, "version 2 or 3, found 4"},
      {"big-endian", [](S& b) { patch<std::uint32_t>(b, 4, 0x03000000); }, "big-endian"},
      {"huge tensor count", [](S& b) { patch<std::uint64_t>(b, 8, ~0ull); },
       "promises 18446744073709551615 tensors"},
      {"huge entry count", [](S& b) { patch<std::uint64_t>(b, 16, 1ull << 60); },
       "metadata entries"},
      {"one entry more", [](S& b) { patch<std::uint64_t>(b, 16, 18); }, ""},
      {"one entry less", [](S& b) { patch<std::uint64_t>(b, 16, 16); }, ""},
      {"huge key length", [](S& b) { patch<std::uint64_t>(b, 24, 1ull << 62); },
       "file ends within a metadata key"},
      {"empty key", [](S& b) { patch<std::uint64_t>(b, 24, 0); }, "is empty"},
      {"key with a control character", [](S& b) { b[33] = '\n'; }, "not printable ASCII"},
      {"key twice", [](S& b) { b[b.find("a.i8") + 2] = 'u'; }, "'a.u8' appears twice"},
      {"unknown value type", [](S& b) { patch<std::uint32_t>(b, after(b, "a.f32"), 13); },
       "value types are below 13, found 13"},
      {"a bool of 2", [](S& b) { b[after(b, "a.bool") + 4] = 2; }, "a bool is 0 or 1, found 2"},
      {"huge string",
       [](S& b) { patch<std::uint64_t>(b, after(b, "general.architecture") + 4, ~0ull); },
       "file ends within a metadata value"},
      {"huge array", [](S& b) { patch<std::uint64_t>(b, after(b, "a.floats") + 8, 1ull << 61); },
       "'a.floats': array of 2305843009213693952 elements"},
      {"array of unknown type", [](S& b) { patch<std::uint32_t>(b, after(b, "a.ints") + 4, 99); },
       "arrays of type 99"},
      {"array of arrays", [](S& b) { patch<std::uint32_t>(b, after(b, "a.ints") + 4, 9); },
       "arrays of type 9 (array) are not supported"},
      {"alignment of 0",
       [](S& b) { patch<std::uint32_t>(b, after(b, "general.alignment") + 4, 0); }, "power of two"},
      {"alignment of 48",
       [](S& b) { patch<std::uint32_t>(b, after(b, "general.alignment") + 4, 48); },
       "power of two from 8 to 2^20, found 48"},
      {"alignment as float",
       [](S& b) { patch<std::uint32_t>(b, after(b, "general.alignment"), 6); },
       "'general.alignment': expected an integer"},
      {"rank 0", [](S& b) { patch<std::uint32_t>(b, after(b, "plain"), 0); },
       "expected 1 to 4 dims, found 0"},
      {"rank 5", [](S& b) { patch<std::uint32_t>(b, after(b, "plain"), 5); },
       "expected 1 to 4 dims, found 5"},
      {"a dim of 0", [](S& b) { patch<std::uint64_t>(b, dim_at(b, "plain", 1), 0); },
       "dims 5 x 0 are empty"},
      {"dims that overflow",
       [](S& b) {
         patch<std::uint64_t>(b, dim_at(b, "plain", 0), 1ull << 33);
         patch<std::uint64_t>(b, dim_at(b, "plain", 1), 1ull << 33);
       },
       "beyond 2^42 elements"},
      {"dims larger than the file",
       [](S& b) { patch<std::uint64_t>(b, dim_at(b, "plain", 1), 1000); },
       "lie beyond the tensor section"},
      {"type that we do not read",
       [](S& b) { patch<std::uint32_t>(b, type_at(b, "plain", 2), 12); },
       "'plain': type 12 is not supported"},
      {"a row that is no whole block",
       [](S& b) { patch<std::uint64_t>(b, dim_at(b, "blocks", 0), 63); },
       "rows of q8_0 are multiples of 32, found 63"},
      {"misaligned offset", [](S& b) { patch<std::uint64_t>(b, offset_at(b, "half", 2), 36); },
       "offset 36 is no multiple of the alignment, 32"},
      {"offset beyond the file",
       [](S& b) { patch<std::uint64_t>(b, offset_at(b, "half", 2), 1ull << 40); },
       "lie beyond the tensor section"},
      {"offset that wraps", [](S& b) { patch<std::uint64_t>(b, offset_at(b, "half", 2), -32ull); },
       "lie beyond the tensor section"},
      {"overlap", [](S& b) { patch<std::uint64_t>(b, offset_at(b, "half", 2), 32); },
       "'plain' and tensor 'half' overlap"},
      {"same place", [](S& b) { patch<std::uint64_t>(b, offset_at(b, "half", 2), 0); }, "overlap"},
      {"tensor twice", [](S& b) { std::memcpy(&b[after(b, "brain") - 5], "plain", 5); },
       "'plain' appears twice"},
      {"tensor name with a space", [](S& b) { b[after(b, "brain") - 1] = ' '; },
       "not printable ASCII"},
  };
  return kDamages;
}

}  // namespace

TEST_CASE("the undamaged sample is read") { REQUIRE(parse_bytes(sample_bytes())); }

TEST_CASE("each damage is refused and named") {
  for (const Damage& damage : damages()) {
    INFO(damage.what);
    std::string bytes = sample_bytes();
    damage.apply(bytes);
    auto file = parse_bytes(bytes);
    REQUIRE_FALSE(file);
    INFO(file.error().message);
    CHECK(file.error().code == ErrorCode::bad_input);
    CHECK_FALSE(file.error().message.empty());
    CHECK(file.error().message.find(damage.message) != std::string::npos);
  }
}

// The last tensor's padding is all that may be missing.
TEST_CASE("a file cut anywhere is refused") {
  const std::string whole = sample_bytes();
  auto file = parse_bytes(whole);
  REQUIRE(file);
  const Tensor& last = file->tensors().back();
  const std::size_t end =
      std::size_t(reinterpret_cast<const char*>(last.bytes.data()) - whole.data()) +
      last.bytes.size();
  for (std::size_t size = 0; size < end; ++size) {
    const std::string cut = whole.substr(0, size);
    if (parse_bytes(cut)) FAIL("a file of " << size << " bytes of " << end << " was read");
  }
  CHECK(parse_bytes(whole.substr(0, end)));
}
