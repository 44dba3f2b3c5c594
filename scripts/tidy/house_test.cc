// The rules over the tree that this test was built from.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include "scripts/tidy/rules.h"
#include "scripts/tidy/tree.h"

namespace tidy {
namespace {

const std::vector<Source>& tree() {
  static const std::vector<Source> kTree = load_tree(NIGHTSHIFT_SOURCE_DIR);
  return kTree;
}

bool is_cpp(const Source& source) { return is_header(source.path) || is_unit(source.path); }
bool is_code(const Source& source) {
  return is_cpp(source) || source.path.ends_with(".ts") || source.path.ends_with(".tsx") ||
         source.path.ends_with(".js");
}

// Printed here, since Catch breaks long lines.
void none_of(const std::vector<Violation>& violations) {
  if (!violations.empty()) std::cout << to_text(violations) << "\n\n";
  CHECK(violations.empty());
}

void pass(std::vector<Violation> (*rule)(const Source&), bool (*applies)(const Source&)) {
  std::vector<Violation> violations;
  for (const Source& source : tree()) {
    if (!applies(source)) continue;
    for (Violation& violation : rule(source)) violations.push_back(std::move(violation));
  }
  none_of(violations);
}

}  // namespace

// Without this, a wrong path would make every rule pass.
TEST_CASE("the tree is there") {
  auto has = [](std::string_view path) {
    return std::any_of(tree().begin(), tree().end(),
                       [&](const Source& source) { return source.path == path; });
  };
  CHECK(has("CMakeLists.txt"));
  CHECK(has("base/result.h"));
  CHECK(has("hypotheses/types.h"));
  CHECK(has("scripts/tidy/house_test.cc"));
}

TEST_CASE("the house: who includes whom") { pass(include_rule, is_cpp); }
TEST_CASE("the house: libraries stay at home") { pass(third_party_rule, is_cpp); }
TEST_CASE("the house: file size") { pass(file_size_rule, is_code); }
TEST_CASE("the house: function size") { pass(function_size_rule, is_cpp); }
TEST_CASE("the house: banned calls") { pass(banned_call_rule, is_cpp); }
TEST_CASE("the house: tabs, machine paths, pragma once") { pass(text_rule, is_code); }
TEST_CASE("the house: orphans") {
  std::vector<Violation> violations = orphan_rule(tree());
  none_of(violations);
}

}  // namespace tidy
