#include "scripts/tidy/code.h"

#include <catch2/catch.hpp>

namespace tidy {

TEST_CASE("comments and the insides of literals are blanked, columns stay") {
  struct Case {
    std::string text, code;
  };
  const std::vector<Case> cases = {
      {"a // b\nc", "a     \nc"},
      {"a /* b\nc */ d", "a     \n     d"},
      {R"x(f("rand()");)x", R"x(f("      ");)x"},
      {R"x(f("a\"b");)x", R"x(f("    ");)x"},
      {R"x(c = '"'; d)x", R"x(c = ' '; d)x"},
      {R"x(c = '\''; d)x", R"x(c = '  '; d)x"},
      {"n = 1'000'000; 'x'", "n = 1'000'000; ' '"},
      {"n = 0xff'ff;", "n = 0xff'ff;"},
      {"f(R\"(a\n\")\");", "f(R\"  \n  \");"},
      {"f(R\"x(a)\" \")x\");", "f(R\"         \");"},
      {"f(u8R\"(\")\");", "f(u8R\"   \");"},
      {"VAR\"(\" x", "VAR\" \" x"},
      {"\"open\nnext", "\"    \nnext"},
      {"", ""},
      {"/* never closed", "               "},
      {"R\"(never closed", "R\"             "},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    CHECK(blank_out(c.text) == c.code);
    CHECK(blank_out(c.text).size() == c.text.size());
  }
}

TEST_CASE("preprocessor lines are blanked with their continuations") {
  CHECK(blank_out_directives("#define A { \\\n  }\nb {}\n") == "             \n   \nb {}\n");
  CHECK(blank_out_directives("  # if X\na") == "        \na");
}

TEST_CASE("includes are found where the compiler finds them") {
  const Source source{"store/x.cc",
                      "#include \"store/x.h\"\n#  include <vector>\n// #include \"no.h\"\n"
                      "auto t = R\"(\n#include \"no.h\"\n)\";\n"};
  const Code code(source);
  REQUIRE(code.lines().size() == 6);
  CHECK(include_of(code.lines()[0]).path == "store/x.h");
  CHECK(include_of(code.lines()[0]).quoted);
  CHECK(include_of(code.lines()[1]).path == "vector");
  CHECK_FALSE(include_of(code.lines()[1]).quoted);
  for (std::size_t i = 2; i < 6; ++i) CHECK(include_of(code.lines()[i]).path.empty());
}

TEST_CASE("an excuse needs a reason") {
  CHECK(has_reason("f();  // tidy: the one clock of the engine", "tidy:"));
  CHECK(has_reason("// One table. size: a closed set of words", "size:"));
  CHECK_FALSE(has_reason("f();  // tidy:", "tidy:"));
  CHECK_FALSE(has_reason("f();  // tidy: ok", "tidy:"));
  CHECK_FALSE(has_reason("f();  // tidy: justbecause", "tidy:"));
  CHECK_FALSE(has_reason("f(\"tidy: not in a comment\");", "tidy:"));
  CHECK_FALSE(has_reason("// oversize: a word that ends so", "size:"));
}

TEST_CASE("kinds of files") {
  CHECK(is_header("a/b.h"));
  CHECK(is_header("a/b.cuh"));
  CHECK_FALSE(is_header("a/b.cc"));
  CHECK(is_unit("a/b.cu"));
  CHECK(is_test("a/b_test.cc"));
  CHECK(is_test("a/runner_contract.h"));
  CHECK(is_test("a/test_repository.cc"));
  CHECK_FALSE(is_test("a/test.cc"));
  CHECK(folder_of("store/git/names.cc") == "store");
  CHECK(folder_of("names.cc").empty());
}

}  // namespace tidy
