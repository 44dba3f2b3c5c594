#include "hypotheses/manifest.h"

#include <catch2/catch.hpp>
#include <string>

namespace hypotheses {
namespace {

constexpr std::string_view kGood = R"(version: 1
name: bundled
base: main
goal: {metric: k.time, conditions: {batch: 1}}
guards: {serve.ttft: 5%, k.time: 0.1}
protected: ["**/CMakeLists.txt", "kernels/*/{reference,check}*"]
build:
  - cmake -S kernels -B {build}
  - [cmake, --build, "{build}"]
build_timeout: 5m
knobs:
  k.tile: {file: kernels/knobs.yaml, key: k.tile, when: build, choices: [16, 32], tags: [tiling]}
  threads: {file: serve.yaml, key: serve.threads, when: launch, choices: [1, 2, 4]}
probes:
  k.check:
    answers: correctness
    layer: kernel
    covers: [kernels/k/**, "knob:k.*"]
    run: "{build}/bin/lab check k --seed {seed}"
    format: nightshift
    timeout: 30s
  k.bench:
    answers: speed
    layer: kernel
    covers: [kernels/k/**]
    run: [lab, bench, "--batch={batch}", "--json", '{"a": {"b": 1}}']
    conditions: {batch: [1, 8, 64], mode: fast}
    format: google-benchmark
    metrics:
      k.time: {from: {benchmark: k, field: real_time}, better: lower, unit: ns}
      k.gates: {from: {benchmark: k, field: gates}, better: lower, exact: true}
    resources: {cores: 2, gpus: 1}
  serve:
    answers: serving
    layer: engine
    covers: ["**"]
    run: serve --threads {threads} --out {scratch} --tree {tree}
    format: nightshift
    metrics: {serve.ttft: {better: lower, unit: ms}}
  trace:
    answers: timeline
    layer: engine
    covers: ["**"]
    run: serve --trace
    format: hyperfine
    metrics: {trace.time: {from: {field: median}, better: lower, unit: s}}
)";

// kGood with the one occurrence of `what` replaced.
std::string with(std::string_view what, std::string_view replacement) {
  std::string text(kGood);
  const std::size_t at = text.find(what);
  INFO(what);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(what, at + 1) == std::string::npos);
  return text.replace(at, what.size(), replacement);
}

// "line:column text" of the mistakes.
std::vector<std::string> told(const std::string& text) {
  const ManifestOutcome outcome = parse_manifest(text, "nightshift.yaml");
  CHECK(outcome.manifest.has_value() == outcome.mistakes.empty());
  std::vector<std::string> lines;
  for (const Mistake& mistake : outcome.mistakes) {
    CHECK(mistake.file == "nightshift.yaml");
    lines.push_back(std::to_string(mistake.line) + ":" + std::to_string(mistake.column) + " " +
                    mistake.text);
  }
  return lines;
}

using Lines = std::vector<std::string>;

// kGood with one thing changed, and the only mistake that follows (nothing: two follow).
struct Broken {
  std::string_view what, replacement;
  const char* mistake;
};
constexpr Broken kBroken[] = {
    {"version: 1", "version: 2", "1:10 this Nightshift reads version 1; found version 2"},
    {"version: 1", "version: one", "1:10 expected a whole number; found 'one'"},
    {"name: bundled", "name: ''", "2:7 expected a name for the target; found an empty text"},
    {"base: main", "base: -x", "3:7 expected the name of a branch; found '-x'"},
    {"base: main", "base: a..b", "3:7 expected the name of a branch; found 'a..b'"},
    {"goal: {metric: k.time, conditions: {batch: 1}}", "goal: {metric: k.time}",
     "4:7 the goal must say in which 'batch' of the probe 'k.bench' it is judged; add it to its "
     "conditions"},
    {"conditions: {batch: 1}", "conditions: {batch: 2}",
     "4:44 the probe 'k.bench' never runs with batch=2"},
    {"conditions: {batch: 1}", "conditions: {batch: 1, len: 3}",
     "4:47 the probe 'k.bench' has no condition 'len'"},
    {"serve.ttft: 5%", "serve.tftt: 5%",
     "5:10 no probe emits the guarded metric 'serve.tftt'; did you mean 'serve.ttft'?"},
    {"serve.ttft: 5%", "serve.ttft: 5",
     "5:22 a guard's margin lies above 0% and at most at 100%; write 5% for five per cent"},
    {"\"**/CMakeLists.txt\"", "\"a/[x]\"",
     "6:13 [...] and '\\' are not supported; use *, **, ? and {a,b}; found 'a/[x]'"},
    {"\"**/CMakeLists.txt\"", "\"**/knobs.yaml\"",
     "12:18 the knob's file 'kernels/knobs.yaml' is protected, so no value but the base's would "
     "ever "
     "be used"},
    {"file: serve.yaml", "file: nightshift.yaml",
     "13:19 the knob's file 'nightshift.yaml' is protected, so no value but the base's would "
     "ever be "
     "used"},
    {"cmake -S kernels -B {build}", "cmake -B {bulid}",
     "8:5 unknown placeholder {bulid}; did you mean 'build'?"},
    {"cmake -S kernels -B {build}", "cmake && make",
     "8:5 '&&' means nothing here: no shell reads a command; put it into a script, or write the "
     "command as a list of arguments"},
    {"cmake -S kernels -B {build}", "cmake 'x", "8:5 a ' that never ends"},
    {"cmake -S kernels -B {build}", "''", "8:5 expected a command; found nothing to run"},
    {"build_timeout: 5m", "build_timeout: 0",
     "10:16 expected a time limit above 0 and of at most 24h"},
    {"choices: [16, 32]", "choices: [16]", "12:73 a knob needs at least two choices"},
    {"choices: [16, 32]", "choices: [16, 16]", "12:78 duplicate choice '16'"},
    {"\"knob:k.*\"", "\"knob:j.*\"", "18:28 'knob:j.*' covers no knob of this manifest"},
    {"\"knob:k.*\"", "\"knob:{k\"", "18:28 a '{' without its '}'; found 'knob:{k'"},
    {"covers: [kernels/k/**]", "covers: []",
     "25:13 a probe that covers nothing answers nothing; write [\"**\"] for everything"},
    {"check k --seed {seed}", "check {batch}",
     "19:10 unknown placeholder {batch}; known are {build}, {tree}, {scratch}, {seed}, "
     "{threads}"},
    {"check k --seed {seed}", "check {k.tile}",
     "19:10 unknown placeholder {k.tile}; known are {build}, {tree}, {scratch}, {seed}, "
     "{threads}"},
    {"--batch={batch}", "--batch=1",
     "27:18 the command never uses {batch}: all its values would measure the same"},
    {"mode: fast", "seed: [1]",
     "27:37 the condition 'seed' hides a placeholder or a launch-time knob of that name; rename "
     "it"},
    {"batch: [1, 8, 64]", "batch: [1, 8, 8]", "27:32 duplicate value '8'"},
    {"mode: fast", "mode: 'a b'",
     "27:43 a condition's value has no spaces, commas, braces or '='; found 'a b'"},
    {"mode: fast", "mode: []", "27:43 expected at least one value"},
    {"format: google-benchmark", "format: vllm-bench",
     "28:13 the format vllm-bench is not supported yet; supported are nightshift, "
     "google-benchmark, "
     "hyperfine, junit, chrome-trace"},
    {"format: google-benchmark", "format: csv",
     "28:13 expected one of nightshift, google-benchmark, hyperfine, junit, chrome-trace; found "
     "'csv'"},
    {"{benchmark: k, field: gates}", "{benchmark: k}", "31:23 missing key 'field'"},
    {"from: {benchmark: k, field: gates}, ", "", "31:16 missing key 'from'"},
    {"better: lower, unit: ns", "unit: ns", "30:15 missing key 'better'"},
    {"      k.gates:", "      serve.ttft:",
     "39:15 the metric 'serve.ttft' is emitted by the probe 'k.bench' already"},
    {"better: lower, unit: ns", "better: lower, unit: ns, limit: 0",
     "30:88 expected a number above 0 or copy_rate; found '0'"},
    {"better: lower, unit: ns", "better: lower, unit: ns, limit: copy_rate",
     "30:88 copy_rate limits rates of bytes: expected better: higher and a unit like GB/s"},
    {"cores: 2", "cores: 0", "32:24 expected 1 to 4096; found 0"},
    {"metrics: {serve.ttft: {better: lower, unit: ms}}",
     "metrics: {serve.ttft: {from: {field: x}, better: lower}}",
     "39:28 the nightshift format names its metrics itself; drop 'from'"},
    {"    metrics: {trace.time: {from: {field: median}, better: lower, unit: s}}\n", "",
     "41:5 this probe needs at least one metric under 'metrics'"},
    {"  trace:\n", "  build:\n", "40:3 the name 'build' is taken by the manifest's build commands"},
    {"  trace:\n", "  Trace:\n",
     "41:5 a probe's name has small letters, digits, _ . - only; found 'Trace'"},
    {"answers: timeline", "answer: timeline", nullptr},  // unknown, and missing
    {"when: launch", "when: run", nullptr},              // unknown, and no placeholder {threads}
};

TEST_CASE("a limit is a number in the metric's unit, or the machine's copy rate") {
  const auto limit_of = [](std::string_view keys) {
    return read_manifest(with("better: lower, unit: ns", keys), "m.yaml")
        ->metric("k.time")
        ->limit.value();
  };
  CHECK(limit_of("better: lower, unit: ns, limit: 12.5").value == 12.5);
  CHECK_FALSE(limit_of("better: lower, unit: ns, limit: 12.5").is_copy_rate);
  CHECK(limit_of("better: higher, unit: GB/s, limit: copy_rate").is_copy_rate);
  CHECK(bytes_per_s("GiB/s") == 1073741824);
  CHECK(bytes_per_s("MB/s") == 1e6);
  CHECK_FALSE(bytes_per_s("ns"));
}

}  // namespace

TEST_CASE("a manifest is read whole") {
  const auto manifest = read_manifest(kGood, "nightshift.yaml");
  if (!manifest) FAIL(manifest.error().text());
  CHECK(manifest->name == "bundled");
  CHECK(manifest->base == "main");
  // A condition with one value goes without saying.
  CHECK(to_text(manifest->goal) == "k.time{batch=1,mode=fast}");
  REQUIRE(manifest->guards.size() == 2);
  CHECK(manifest->guards[0].metric == "serve.ttft");
  CHECK(manifest->guards[0].margin == Approx(0.05));
  CHECK(manifest->build == std::vector<Lines>{{"cmake", "-S", "kernels", "-B", "{build}"},
                                              {"cmake", "--build", "{build}"}});
  CHECK(manifest->build_timeout_s == 300);
  const Knob& knob = manifest->knobs.at("k.tile");
  CHECK(knob.file == "kernels/knobs.yaml");
  CHECK(knob.when == KnobTime::build);
  CHECK(knob.choices == Lines{"16", "32"});
  CHECK(knob.tags == Lines{"tiling"});
  CHECK(manifest->knobs.at("threads").when == KnobTime::launch);
  const Probe& bench = manifest->probes.at("k.bench");
  CHECK(bench.name == "k.bench");
  CHECK(bench.answers == ProbeKind::speed);
  CHECK(bench.format == Format::google_benchmark);
  CHECK(bench.conditions.at("batch") == Lines{"1", "8", "64"});
  CHECK(bench.conditions.at("mode") == Lines{"fast"});
  CHECK(bench.run.back() == R"({"a": {"b": 1}})");
  CHECK(bench.resources.cores == 2);
  CHECK(bench.resources.gpus == 1);
  CHECK(bench.timeout_s == 60);
  CHECK(bench.metrics.at("k.time").from.field == "real_time");
  CHECK(bench.metrics.at("k.gates").exact);
  CHECK_FALSE(bench.metrics.at("k.gates").limit);
  CHECK(manifest->probes.at("k.check").timeout_s == 30);
  CHECK(manifest->metric("serve.ttft")->unit == "ms");
  CHECK(manifest->metric("nothing") == nullptr);
}

TEST_CASE("five mistakes are five lines, each with its place") {
  CHECK(told(R"(version: 1
name: x
base: main
goal: {metric: k.tim}
probs: {}
knobs:
  a: {file: ../k.yaml, key: a, choices: [1, 2]}
probes:
  p:
    answers: speeed
    layer: kernel
    covers: ["**"]
    run: "p {bacth}"
    conditions: {batch: 1}
    format: nightshift
    metrics: {k.time: {better: lower}}
)") == Lines{
           "4:16 no probe emits the goal metric 'k.tim'; did you mean 'k.time'?",
           "5:1 unknown key 'probs'; did you mean 'probes'?",
           "7:13 expected a path relative to the target's root, without '..'; found '../k.yaml'",
           "10:14 expected one of correctness, counters, speed, timeline, serving; found 'speeed'",
           "13:10 unknown placeholder {bacth}; did you mean 'batch'?"});
}

TEST_CASE("each check has a message and a place") {
  for (const Broken& row : kBroken) {
    const Lines mistakes = told(with(row.what, row.replacement));
    INFO(row.replacement);
    if (row.mistake) CHECK(mistakes == Lines{row.mistake});
    if (!row.mistake) CHECK(mistakes.size() == 2);
  }
}

TEST_CASE("the product of the conditions is capped") {
  const auto values = [](int count) {
    std::string list = "mode: [";
    for (int i = 0; i < count; ++i) list += (i ? ", m" : "m") + std::to_string(i);
    return list + "]";
  };
  // Three batches times so many modes. That neither the command nor the goal names a mode are two
  // mistakes of their own.
  CHECK(told(with("mode: fast", values(21))).size() == 2);
  const Lines mistakes = told(with("mode: fast", values(22)));
  REQUIRE(mistakes.size() == 3);
  CHECK_THAT(mistakes[1], Catch::StartsWith("27:17 the conditions have more than 64 combinations"));
}

TEST_CASE("a knob of launch time and a condition cannot share a name") {
  const Lines mistakes = told(with("mode: fast", "threads: 3"));
  REQUIRE(mistakes.size() == 1);
  CHECK_THAT(mistakes[0], Catch::Contains("launch-time knob of that name"));
}

TEST_CASE("{build} needs build commands") {
  const std::string text(
      with("build:\n  - cmake -S kernels -B {build}\n  - [cmake, --build, \"{build}\"]\n", ""));
  const Lines mistakes = told(text);
  REQUIRE(mistakes.size() == 1);
  CHECK_THAT(mistakes[0], Catch::Contains("{build} is empty"));
}

TEST_CASE("a probe may build more than the manifest does") {
  const auto text = [](std::string_view build) {
    return with("    answers: speed\n",
                "    answers: speed\n    build: " + std::string(build) + "\n");
  };
  const auto manifest = read_manifest(text(R"(["make -C {build} bench", [sh, x.sh]])"), "m.yaml");
  if (!manifest) FAIL(manifest.error().text());
  CHECK(manifest->probes.at("k.bench").build ==
        std::vector<Lines>{{"make", "-C", "{build}", "bench"}, {"sh", "x.sh"}});
  CHECK(manifest->probes.at("k.check").build.empty());
  const Lines mistakes = told(text(R"(["make {seed}"])"));
  REQUIRE(mistakes.size() == 1);
  CHECK_THAT(mistakes[0], Catch::Contains("{seed}"));
  CHECK_FALSE(told(text("3")).empty());
}

TEST_CASE("what is no manifest at all is told once") {
  CHECK(told("").size() == 1);
  CHECK(told("[1, 2]\n") == Lines{"1:1 expected a map; found a list"});
  CHECK(told("hello\n") == Lines{"1:1 expected a map; found 'hello'"});
  CHECK(told("a: [\n").size() == 1);
  const auto error = read_manifest("version: 1\n", "nightshift.yaml").error();
  CHECK(error.code == base::ErrorCode::bad_input);
  CHECK_THAT(error.message, Catch::Contains("nightshift.yaml:1:1: missing key 'probes'"));
  CHECK_THAT(error.message, Catch::Contains("nightshift.yaml:1:1: missing key 'goal'"));
}

TEST_CASE("values of the wrong shape are mistakes, never crashes") {
  for (std::string_view shape : {"3", "[]", "{}", "~", "[[1]]", "{a: [b]}", "[{a: 1}]", "''"}) {
    for (std::string_view key : {"version", "name", "base", "goal", "guards", "protected", "build",
                                 "build_timeout", "knobs", "probes"}) {
      const std::string text = std::string(key) + ": " + std::string(shape) + "\n";
      CHECK_FALSE(parse_manifest(text, "f").manifest);
    }
    for (std::string_view key : {"answers", "layer", "covers", "run", "conditions", "format",
                                 "metrics", "resources", "timeout"}) {
      const std::string text =
          "probes: {p: {" + std::string(key) + ": " + std::string(shape) + "}}\n";
      CHECK_FALSE(parse_manifest(text, "f").manifest);
    }
    CHECK_FALSE(parse_manifest("probes: {p: " + std::string(shape) + "}\n", "f").manifest);
    CHECK_FALSE(parse_manifest("knobs: {p: " + std::string(shape) + "}\n", "f").manifest);
  }
}

TEST_CASE("protected paths hold against other spellings") {
  const Manifest manifest = read_manifest(kGood, "f").value();
  for (const char* path : {"nightshift.yaml", "./nightshift.yaml", "a/../nightshift.yaml", "//x",
                           "/etc/x", "../x", "a/../../x", "CMakeLists.txt", "a/b/CMakeLists.txt",
                           "kernels/k/check.cc", "kernels/./k//check.cc"})
    CHECK(manifest.is_protected(path));
  for (const char* path :
       {"kernels/k/v0.cc", "a/nightshift.yaml", "nightshift.yaml.bak", "kernels/check.cc"})
    CHECK_FALSE(manifest.is_protected(path));
}

TEST_CASE("combinations are the product, first name slowest") {
  Probe probe;
  CHECK(combinations(probe) == std::vector<Conditions>{{}});
  probe.conditions = {{"b", {"8", "1"}}, {"a", {"x", "y"}}};
  CHECK(combinations(probe) == std::vector<Conditions>{{{"a", "x"}, {"b", "8"}},
                                                       {{"a", "x"}, {"b", "1"}},
                                                       {{"a", "y"}, {"b", "8"}},
                                                       {{"a", "y"}, {"b", "1"}}});
}

TEST_CASE("a probe covers paths and knobs") {
  Probe probe;
  probe.covers = {"kernels/k/**", "knob:k.*"};
  CHECK(covers(probe, {"x", "kernels/k/a.h"}, {}));
  CHECK(covers(probe, {}, {"j.x", "k.tile"}));
  CHECK_FALSE(covers(probe, {"kernels/j/a.h", "k.tile"}, {"j.x"}));
  CHECK_FALSE(covers(probe, {}, {}));
}

TEST_CASE("placeholders are replaced whole and once") {
  const std::map<std::string, std::string> values = {
      {"build", "/b dir"}, {"seed", "{build}"}, {"v.t", "1"}};
  CHECK(substitute({"{build}/bin", "-s{seed}", "{v.t}{v.t}"}, values).value() ==
        Lines{"/b dir/bin", "-s{build}", "11"});
  CHECK(
      substitute({"{\"a\": {\"b\": 1}}", "{}", "{ build }", "{1}", "{build", "build}", "{{build}}"},
                 values)
          .value() ==
      Lines{"{\"a\": {\"b\": 1}}", "{}", "{ build }", "{1}", "{build", "build}", "{/b dir}"});
  const auto unknown = substitute({"x", "{biuld}"}, values);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message == "no value for the placeholder {biuld}; did you mean 'build'?");
}

TEST_CASE("a command is split without a shell") {
  CHECK(split_arguments("a 'b c' d").value() == Lines{"a", "b c", "d"});
  CHECK(split_arguments("  a\t\n b  ").value() == Lines{"a", "b"});
  CHECK(split_arguments("").value().empty());
  CHECK(split_arguments("'' \"\"").value() == Lines{"", ""});
  CHECK(split_arguments(R"(a\ b "c \"d\" \n" 'e\f' g"h"'i')").value() ==
        Lines{"a b", R"(c "d" \n)", R"(e\f)", "ghi"});
  CHECK(split_arguments("$HOME *.c `x`").value() == Lines{"$HOME", "*.c", "`x`"});
  CHECK_FALSE(split_arguments("a 'b"));
  CHECK_FALSE(split_arguments("a \"b"));
  CHECK_FALSE(split_arguments("a \\"));
}

}  // namespace hypotheses
