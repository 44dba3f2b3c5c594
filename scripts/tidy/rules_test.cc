// Each rule catches what is planted here, and lets the innocent look-alike pass.
#include "scripts/tidy/rules.h"

#include <catch2/catch.hpp>

namespace tidy {
namespace {

struct Case {
  std::string path, text;
  int violations = 0;
};

void check(std::vector<Violation> (*rule)(const Source&), const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    std::vector<Violation> found = rule({c.path, c.text});
    INFO(c.path << ":\n" << c.text << "\nfound:" << to_text(found));
    CHECK(static_cast<int>(found.size()) == c.violations);
  }
}

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "int x;\n";
  return text;
}

}  // namespace

TEST_CASE("a violation says where, which rule and what to do") {
  auto found = include_rule({"store/x.cc", "\n#include \"web/api/ports.h\"\n"});
  REQUIRE(found.size() == 1);
  CHECK(to_text(found[0]) ==
        "store/x.cc:2: [include] store/ may not include web/ (it may include hypotheses, base); "
        "pass the value in, or move the declaration down a layer (docs/decisions.md)");
}

TEST_CASE("folders include down the table only") {
  const auto include = [](const std::string& what) { return "#include \"" + what + "\"\n"; };
  check(include_rule,
        {
            {"base/x.cc", include("base/clock.h"), 0},
            {"base/x.cc", include("hypotheses/ids.h"), 1},
            {"hypotheses/x.h", include("base/id.h"), 0},
            {"hypotheses/x.h", include("policies/policy.h"), 1},
            {"policies/x.cc", include("store/store.h"), 1},
            {"policies/x_test.cc", include("runners/runner.h"), 1},
            {"store/git/x.cc", include("store/store.h") + include("base/id.h"), 0},
            {"store/x.cc", include("policies/policy.h"), 1},
            {"runners/x.cc", include("store/store.h"), 1},
            {"web/api/x.cc", include("store/reader.h") + include("policies/policy.h"), 0},
            {"web/api/x.cc", include("runners/runner.h") + include("orchestrator/loop.h"), 2},
            {"orchestrator/x.cc", include("web/api/ports.h") + include("runners/runner.h"), 0},
            {"orchestrator/x.cc", include("kernels/a/v0.h"), 1},
            {"orchestrator/x.cc", include("serving/engine.h"), 1},
            {"kernels/a/x.cu", include("kernels/a/shape.h"), 0},
            {"kernels/a/x.cc", include("base/rng.h"), 1},
            {"serving/x.cc", include("kernels/a/shape.h"), 0},
            {"serving/x.cc", include("base/clock.h"), 1},
        });
}

TEST_CASE("quotes are for paths from the root") {
  check(include_rule, {
                          {"store/x.cc", "#include \"x.h\"\n", 1},
                          {"store/git/x.cc", "#include \"../store.h\"\n", 1},
                          {"store/x.cc", "#include \"sqlite3.h\"\n", 1},
                          {"store/x.cc", "#include <vector>\n#include <sqlite3.h>\n", 0},
                          {"store/x.cc", "#include <web/api/ports.h>\n", 1},
                          {"store/x.cc", "#include \"x.h\"  // tidy: the generated table\n", 0},
                          {"store/x.cc", "// #include \"x.h\"\n", 0},
                      });
}

TEST_CASE("libraries stay in their house") {
  check(third_party_rule,
        {
            {"hypotheses/yaml.cc", "#include <yaml-cpp/yaml.h>\n", 0},
            {"hypotheses/yaml.h", "#include <yaml-cpp/yaml.h>\n", 1},
            {"policies/policy.cc", "#include <yaml-cpp/yaml.h>\n", 1},
            {"store/db.h", "#include <sqlite3.h>\n", 0},
            {"orchestrator/x.cc", "#include <sqlite3.h>\n", 1},
            {"orchestrator/x.cc", "struct sqlite3;\n", 0},
            {"store/git/x.cc", "#include <git2.h>\n", 0},
            {"store/git/x_test.cc", "#include <git2/branch.h>\n", 0},
            {"store/git/x.h", "#include <git2.h>\n", 1},
            {"store/x.cc", "#include <git2.h>\n", 1},
            {"web/api/x.cc", "#include <httplib.h>\n", 0},
            {"web/api/x.h", "#include <httplib.h>\n", 1},
            {"web/api/test_x.h", "#include <httplib.h>\n", 0},
            {"store/test_x.h", "#include <httplib.h>\n", 1},
            {"orchestrator/planner/x.cc", "#include <httplib.h>\n", 0},
            {"runners/x.cc", "#include <httplib.h>\n", 1},
            {"base/log.h", "#include <spdlog/spdlog.h>\n", 0},
            {"store/x.cc", "#include <spdlog/spdlog.h>\n", 1},
            {"store/x.cc", "#include <catch2/catch.hpp>\n", 1},
            {"store/x_test.cc", "#include <catch2/catch.hpp>\n", 0},
            {"store/x.cc", "#include <fmt/format.h>\n#include <nlohmann/json.hpp>\n", 0},
        });
}

TEST_CASE("files have at most 400 lines, or say why") {
  check(file_size_rule,
        {
            {"store/x.cc", lines(400), 0},
            {"store/x.cc", lines(401), 1},
            {"web/ui/x.ts", lines(401), 1},
            {"store/x.cc", "// size: one table of all queries\n" + lines(401), 0},
            {"store/x.cc", "// size: long\n" + lines(401), 1},
            {"store/x.cc", lines(10) + "// size: one table of all queries\n" + lines(401), 1},
        });
}

TEST_CASE("what takes a test's control away is banned") {
  check(banned_call_rule,
        {
            {"store/x.cc", "auto t = std::chrono::system_clock::now();", 1},
            {"store/x_test.cc", "auto t = std::chrono::high_resolution_clock::now();", 1},
            {"store/x.cc", "auto t = std::chrono::steady_clock::now();", 0},
            {"store/x.cc", "auto t = std::time(nullptr);", 1},
            {"store/x.cc", "auto t = time(nullptr);", 1},
            {"store/x.cc", "return ::time(0);", 1},
            {"store/x.cc", "double time(int run);  f.time(3); p->time(3); own::time(3);", 0},
            {"store/x.cc", "gettimeofday(&t, 0);", 1},
            {"store/x.cc", "clock_gettime(CLOCK_REALTIME, &t);", 1},
            {"store/x.cc", "int r = rand() % 6; srand(1);", 2},
            {"store/x.cc", "std::mt19937 g(std::random_device{}());", 1},
            {"store/x.cc", "int operand(int); strand(3); my_rand(2);", 0},
            {"store/x.cc", "std::this_thread::sleep_for(1s);", 1},
            {"store/x_test.cc", "usleep(5);", 1},
            {"store/x.cc", "if (x) sleep(1);\nelse sleep(2);", 2},
            {"store/x.cc", "clock.sleep(1); // sleep(1)", 0},
            {"store/x.cc", "thread.detach();", 1},
            {"store/x.cc", "thread->detach ();", 1},
            {"store/x.cc", "git_repository_detach_head(repo); detach(repo);", 0},
            {"store/x.cc", "log(\"rand() and sleep(1)\");", 0},
            {"store/x.cc", "sleep_for(1s);  // tidy: waits for another process", 0},
            {"store/x.cc", "sleep_for(1s);  // tidy: why", 1},
            {"base/clock.cc", "std::chrono::system_clock::now();", 0},
            {"kernels/a/bench.cc", "rand();", 0},
            {"serving/clock.cc", "clock_gettime(CLOCK_REALTIME, &t);", 0},
        });
}

TEST_CASE("tabs, machine paths and pragma once") {
  const std::string home = "home";
  check(text_rule,
        {
            {"store/x.cc", "\tint x;", 1},
            {"store/x.cc", "f(\"a\\tb\");", 0},
            {"store/x.cc", "f(\"/" + home + "/ann/x\");", 1},
            {"store/x.cc", "// see /" + home + "/ann", 1},
            {"store/x.cc", "f(\"/" + home + "/ann\");  // tidy: the sandbox must hide it", 0},
            {"store/x.cc",
             "f(\"web/" + home + "/page\"); f(\"/" + home + "\"); f(\"/" + home + "/\");", 0},
            {"store/x.cc",
             "f(\"/api/v1/work\"); f(\"/usr/bin/env\"); f(\"{build}/" + home + "/x\");", 0},
            {"store/x.h", "#pragma once\n", 0},
            {"store/x.h", "int x;\n", 1},
            {"store/x.h", "// #pragma once\n", 1},
            {"kernels/a/x-inl.h", "#if defined(A)\n", 0},
            {"kernels/a/x.cuh", "int x;\n", 1},
        });
}

}  // namespace tidy
