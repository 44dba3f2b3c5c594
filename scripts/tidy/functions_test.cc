// What the brace counter takes for a function, and how long it thinks it is.
#include <catch2/catch.hpp>

#include "scripts/tidy/rules.h"

namespace tidy {
namespace {

// A body that makes a function of `head {` have `lines` lines in all.
std::string function(const std::string& head, int lines) {
  std::string text = head + " {\n";
  for (int i = 2; i < lines; ++i) text += i % 2 == 0 ? "  if (x) { f({1}); }\n" : "  g();\n";
  return text + "}\n";
}

std::vector<Violation> found(const std::string& text) {
  return function_size_rule({"store/x.cc", text});
}

}  // namespace

TEST_CASE("70 lines pass, 71 do not, wherever the function stands") {
  const std::vector<std::string> heads = {
      "int f(int a)",
      "template <class T = int> T f(T t)",
      "template <class T> requires (sizeof(T) == 4) T f(T t)",
      "Status A::f() const noexcept",
      "A::A(int a) : a_(a), b_{1}, c_{2, 3}",
      "A::A() : a_{1}",
      "auto f(int a = 3) -> std::vector<int>",
      "bool operator==(const A& a, const A& b)",
      "A& operator=(A&& a)",
      "bool operator()(int a) const",
      "const auto f = [](int a)",
      "std::function<void()> f = [&]() mutable",
      "TEST_CASE(\"a\", \"[b]\")",
      "[[nodiscard]] static constexpr int f(int (*g)(int))",
      "struct A f(int a)",
      "extern \"C\" int f(int a)",
      "__global__ void f(float* a)",
  };
  for (const std::string& head : heads) {
    INFO(head);
    CHECK(found(function(head, 70)).empty());
    CHECK(found(function(head, 71)).size() == 1);
    CHECK(found("namespace a::b {\n" + function(head, 71) + "}\n").size() == 1);
    CHECK(
        found("class A final : public B<decltype(f())> {\n public:\n" + function(head, 70) + "};\n")
            .empty());
    CHECK(
        found("extern \"C\" {\nstruct alignas(64) A {\n" + function(head, 71) + "};\n}\n").size() ==
        1);
  }
}

TEST_CASE("the violation stands at the head and names the function") {
  auto violations = found("#include <x>\n\n" + function("int A::long_one(\n    int a)", 90));
  REQUIRE(violations.size() == 1);
  CHECK(
      to_text(violations[0]) ==
      "store/x.cc:3: [function size] A::long_one has 91 lines, at most 70; name its parts, or say "
      "above it `// size: why it is one thing`");
}

TEST_CASE("scopes and data may be long") {
  std::string many, rows;
  for (int i = 0; i < 100; ++i) many += function("void f()", 3);
  for (int i = 0; i < 100; ++i) rows += "  {1, {2, 3}},\n";
  for (const char* head : {"namespace {\n", "class A {\n public:\n", "struct A : B {\n",
                           "template <class T>\nstruct A {\n", "enum class A : int {\n",
                           "union A {\n", "inline namespace b {\n"}) {
    INFO(head);
    CHECK(found(std::string(head) + many + "};\n").empty());
  }
  CHECK(found("const std::vector<A> kAll = {\n" + rows + "};\n").empty());
  CHECK(found("constexpr int kAll[2][3] = {\n" + rows + "};\n").empty());
  CHECK(found("A kAll{\n" + rows + "};\n").empty());
}

TEST_CASE("functions after data, macros and odd braces are still seen") {
  const std::string long_one = function("int f()", 71);
  CHECK(found("int a{1}; int b[] = {1, 2};\nA c{f({1}), {}};\n" + long_one).size() == 1);
  CHECK(found("#define OPEN { \\\n  {\n" + long_one).size() == 1);
  CHECK(found("// {\nconst char* s = \"{{{\"; char c = '{';\n" + long_one).size() == 1);
  CHECK(found(long_one + long_one).size() == 2);
}

TEST_CASE("a long function may say why") {
  const std::string text = function("int f()", 90);
  CHECK(found("// size: one switch over all events\n" + text).empty());
  CHECK(found("// size: long\n" + text).size() == 1);
  CHECK(found("// size: one switch over all events\nint g();\n" + text).size() == 1);
  CHECK(found(function("int f()  // size: one switch over all events\n", 90)).empty());
}

TEST_CASE("braces that do not pair up are reported, not skipped") {
  CHECK(found("int f() {\n").size() == 1);
  CHECK(found("}\nint f() {}\n").size() == 1);
  CHECK(found("#if A\nint f() {\n#else\nint g() {\n#endif\n}\n").size() == 1);
}

}  // namespace tidy
