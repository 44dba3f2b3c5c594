#include "hypotheses/json.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "hypotheses/field_count.h"
#include "hypotheses/json_fact_fields.h"

namespace hypotheses {
namespace {

using nlohmann::json;

// Gives every field of a value something that is not its default, each time another.
class Filler {
 public:
  template <class T>
  void operator()(const char*, T& value) {
    fill(value);
  }
  template <class T>
  void if_any(const char*, T& value) {
    fill(value);
  }
  void interval(const char*, double& low, double& high) { fill(low), fill(high); }
  template <class F>
  void derived(const char*, F) {}

 private:
  template <class T>
  void fill(T& value) {
    ++count_;
    if constexpr (std::same_as<T, double>)
      value = count_ + 0.1;
    else if constexpr (std::same_as<T, bool>)
      value = !value;
    else if constexpr (std::same_as<T, std::uint64_t>)
      value = ~std::uint64_t{0} - count_;
    else if constexpr (std::same_as<T, std::int64_t>)
      value = -(std::int64_t{1} << 60) - count_;
    else if constexpr (std::integral<T>)
      value = static_cast<T>(-1000 - count_);
    else if constexpr (std::same_as<T, std::string>)
      value = "é \"text\" " + std::to_string(count_);
    else if constexpr (std::same_as<T, Conditions>)
      value = {{"batch", std::to_string(count_)}, {"l", "x"}};
    else if constexpr (std::is_enum_v<T>)
      value = std::rbegin(words(T{}))->first;
    else if constexpr (AnyId<T>)
      value.value = count_;
    else if constexpr (std::same_as<T, CommitId>)
      value.hex = "c0ffee" + std::to_string(count_);
    else if constexpr (std::same_as<T, base::Instant>)
      value.ms = 1'700'000'000'000 + count_;
    else if constexpr (IsOptional<T>::value)
      fill(value.emplace());
    else if constexpr (IsVector<T>::value)
      fill(value.emplace_back()), fill(value.emplace_back());
    else
      describe(*this, value);
  }

  int count_ = 0;
};

template <class T>
void check_all_fields_listed(const char* name) {
  INFO(name);
  T value{};
  FieldCounter counter;
  describe(counter, value);
  CHECK(counter.count == field_count<T>());
}

template <std::size_t... I>
std::vector<Fact> all_facts(std::index_sequence<I...>) {
  std::vector<Fact> facts;
  const auto add = [&](auto fact) {
    Filler filler;
    describe(filler, fact);
    facts.push_back(std::move(fact));
  };
  (add(std::variant_alternative_t<I, Fact>{}), ...);
  return facts;
}

std::vector<Fact> all_facts() {
  return all_facts(std::make_index_sequence<std::variant_size_v<Fact>>());
}

template <std::size_t... I>
void check_facts_listed(std::index_sequence<I...>) {
  (check_all_fields_listed<std::variant_alternative_t<I, Fact>>("fact"), ...);
}

bool holds_default(const json& value) {
  if (value.is_object() || value.is_array()) {
    for (const json& item : value)
      if (holds_default(item)) return true;
    return value.empty();
  }
  return value.is_null() || value == 0 || value == "";
}

}  // namespace

TEST_CASE("every field of the vocabulary is in its JSON") {
  check_all_fields_listed<MetricKey>("MetricKey");
  check_all_fields_listed<Prediction>("Prediction");
  check_all_fields_listed<KnobSetting>("KnobSetting");
  check_all_fields_listed<Edit>("Edit");
  check_all_fields_listed<Change>("Change");
  check_all_fields_listed<Subject>("Subject");
  check_all_fields_listed<Evidence>("Evidence");
  check_all_fields_listed<Answer>("Answer");
  check_all_fields_listed<Hypothesis>("Hypothesis");
  check_all_fields_listed<Alternative>("Alternative");
  check_all_fields_listed<Experiment>("Experiment");
  check_all_fields_listed<Observation>("Observation");
  check_all_fields_listed<StackShare>("StackShare");
  check_all_fields_listed<Timeline>("Timeline");
  check_all_fields_listed<MachineState>("MachineState");
  check_all_fields_listed<Run>("Run");
  check_all_fields_listed<Campaign>("Campaign");
  check_all_fields_listed<Night>("Night");
  check_all_fields_listed<MergeRequest>("MergeRequest");
  check_all_fields_listed<PlannerTurn>("PlannerTurn");
  check_facts_listed(std::make_index_sequence<std::variant_size_v<Fact>>());
}

TEST_CASE("every fact survives the way to text and back") {
  std::vector<std::string> kinds;
  for (const Fact& fact : all_facts()) {
    const std::string kind(kind_of(fact));
    INFO(kind);
    CHECK(std::find(kinds.begin(), kinds.end(), kind) == kinds.end());
    kinds.push_back(kind);
    const json first = to_json(fact);
    CHECK_FALSE(holds_default(first));
    const auto back = fact_from_json(kind, json::parse(dump(first)));
    REQUIRE(back);
    CHECK(back->index() == fact.index());
    CHECK(to_json(*back) == first);
    CHECK(json::parse(to_json_text(fact)) == first);
  }
  CHECK(kinds.size() == std::variant_size_v<Fact>);
}

TEST_CASE("the JSON is what the pages rely on") {
  Hypothesis hypothesis;
  hypothesis.id = {7};
  hypothesis.prediction = {{"k.time", {{"batch", "1"}}}, std::log(0.6)};
  hypothesis.change.knobs = {{"k.tile", "128"}};
  hypothesis.opened = {1234};
  Evidence evidence;
  evidence.effect = std::log(1.5), evidence.low = std::log(1.4), evidence.high = std::log(1.6);
  evidence.unit = "ns";
  hypothesis.evidence = evidence;
  const json out = to_json(hypothesis);
  CHECK(out["id"] == "H-7");
  CHECK(out["parent"].is_null());
  CHECK(out["base"].is_null());
  CHECK(out["verdict"].is_null());
  CHECK(out["state"] == "queued");
  CHECK(out["opened"] == 1234);
  CHECK(out["prediction"]["text"] == "k.time{batch=1} -40%");
  CHECK(out["prediction"]["key"]["conditions"]["batch"] == "1");
  CHECK(out["change"]["text"] == "k.tile = 128");
  CHECK(out["evidence"]["effect_text"] == "1.50x faster (1.40x to 1.60x)");
  CHECK(out["evidence"]["interval"][0].get<double>() == evidence.low);
}

TEST_CASE("the kinds of facts are words of the log") {
  CHECK(kind_of(CampaignCreated{}) == "campaign-created");
  CHECK(kind_of(NightDue{}) == "night-due");
  CHECK(kind_of(HypothesisTaken{}) == "hypothesis-taken");
  CHECK(kind_of(QuestionAnswered{}) == "question-answered");
  CHECK(kind_of(ExperimentFinished{}) == "experiment-finished");
  CHECK(kind_of(NoiseMeasured{}) == "noise-measured");
  CHECK(kind_of(TimelineRead{}) == "timeline-read");
  CHECK(kind_of(MergeApproved{}) == "merge-approved");
  CHECK(kind_of(Noted{}) == "noted");
}

TEST_CASE("a run without a timeline says nothing of it, as runs did before there were any") {
  json payload = to_json(Fact(RunRecorded{}));
  CHECK_FALSE(payload["run"].contains("timeline"));
  const auto run_of = [&] {
    return std::get<RunRecorded>(fact_from_json("run-recorded", payload).value()).run;
  };
  CHECK_FALSE(run_of().timeline);
  payload["run"]["timeline"] = {{"stacks", json::array()}, {"idle", 0.5}, {"missing", {"k"}}};
  REQUIRE(run_of().timeline);
  CHECK(run_of().timeline->idle == 0.5);
  CHECK(run_of().timeline->missing == std::vector<std::string>{"k"});
}

TEST_CASE("a seed keeps all of its digits") {
  Experiment experiment;
  experiment.seed = 0xffff'ffff'ffff'fff1;
  json payload = to_json(Fact(ExperimentStarted{experiment}));
  CHECK(payload["experiment"]["seed"] == "18446744073709551601");
  const auto seed_of = [&] {
    return std::get<ExperimentStarted>(*fact_from_json("experiment-started", payload))
        .experiment.seed;
  };
  CHECK(seed_of() == experiment.seed);
  payload["experiment"]["seed"] = std::uint64_t{0xffff'ffff'ffff'fff1};
  CHECK(seed_of() == experiment.seed);
  for (const json& bad :
       {json("x"), json("-1"), json(-1), json(1.5), json("18446744073709551616")}) {
    payload["experiment"]["seed"] = bad;
    CHECK_FALSE(fact_from_json("experiment-started", payload));
  }
}

TEST_CASE("numbers that are not finite become null, and come back harmless") {
  const double inf = std::numeric_limits<double>::infinity();
  Evidence evidence;
  evidence.effect = std::nan("");
  evidence.low = -inf;
  evidence.high = inf;
  evidence.e_better = inf;
  const json payload = to_json(Fact(HypothesisDecided{{1}, Verdict::inconclusive, "", evidence}));
  CHECK(dump(payload["evidence"]["interval"]) == "[null,null]");
  CHECK(payload["evidence"]["effect"].is_null());
  const auto fact = fact_from_json("hypothesis-decided", payload);
  REQUIRE(fact);
  const Evidence& back = *std::get<HypothesisDecided>(*fact).evidence;
  CHECK(back.low == -inf);
  CHECK(back.high == inf);
  CHECK(back.effect == 0);
  CHECK(back.e_better == 0);  // no evidence, rather than all of it
}

TEST_CASE("what cannot be read is corrupt and says which key") {
  const auto message = [](std::string_view kind, const json& payload) {
    const auto fact = fact_from_json(kind, payload);
    REQUIRE_FALSE(fact);
    CHECK(fact.error().code == base::ErrorCode::corrupt);
    return fact.error().message;
  };
  CHECK(message("no-such", json::object()) == "unknown kind of fact 'no-such'");
  CHECK(message("noted", json::array()) == "noted: expected an object; found array");
  CHECK(message("noted", json()) == "noted: expected an object; found null");
  CHECK(message("noted", {{"campaign", "C-1"}, {"night", nullptr}}) == "noted.text: missing");
  CHECK(message("noted", {{"campaign", 1}, {"night", nullptr}, {"text", ""}}) ==
        "noted.campaign: expected an id; found number");
  CHECK(message("noted", {{"campaign", "H-1"}, {"night", nullptr}, {"text", ""}}) ==
        "noted.campaign: expected an id; found string");
  json deep = to_json(Fact(QuestionAnswered{{1}, {}}));
  deep["answer"]["evidence"] = to_json(Evidence{});
  deep["answer"]["evidence"]["interval"][1] = "wide";
  CHECK(message("question-answered", deep) ==
        "question-answered.answer.evidence.interval[1]: expected a number; found string");
  CHECK_THAT(message("campaign-changed", {{"campaign", "C-1"}, {"state", "x"}, {"reason", ""}}),
             Catch::StartsWith("campaign-changed.state: expected one of active, paused"));
}

TEST_CASE("a fact with a missing key, or a value of another type, is refused and never thrown at") {
  const json wrong[] = {json::object({{"x", 1}}),
                        json::array({1, 2, 3}),
                        json("?"),
                        json(-1.5),
                        json(true),
                        json(1e300)};
  for (const Fact& fact : all_facts()) {
    const json good = to_json(fact);
    const json flat = good.flatten();
    for (const auto& [pointer, value] : flat.items()) {
      const json::json_pointer place(pointer);
      const json::json_pointer parent = place.parent_pointer();
      const json& around = good[parent];
      // What is there for readers of the JSON only may be anything.
      const bool derived =
          place.back() == "effect_text" ||
          (place.back() == "text" && (around.contains("log_ratio") || around.contains("knobs")));
      if (derived) continue;
      INFO(kind_of(fact) << " " << pointer);
      int refused = 0;
      for (const json& other : wrong) {
        json damaged = good;
        damaged[place] = other;
        refused += !fact_from_json(kind_of(fact), damaged);
      }
      CHECK(refused >= 3);  // some of the wrong values are right for a number or for a text
      const bool free_keys =
          !parent.empty() && (parent.back() == "conditions" || parent.back() == "settings");
      if (!around.is_object() || free_keys) continue;
      json missing = good;
      missing[parent].erase(place.back());
      // Logs from before this field was thought of are read.
      const bool came_later =
          place.back() == "why_taken" || place.back() == "copy_rate" ||
          (!parent.empty() && parent.back() == "machine" && place.back() != "machine" &&
           place.back() != "load" && place.back() != "mhz" && place.back() != "steal_s" &&
           place.back() != "sandbox") ||
          place.back() == "min_gain" ||
          (place.back() == "commit" && !parent.empty() && parent.back() == "change") ||
          (place.back() == "why" && kind_of(fact) == "hypothesis-taken");
      CHECK(fact_from_json(kind_of(fact), missing).has_value() == came_later);
    }
  }
}

TEST_CASE("foreign bytes become valid JSON text") {
  const std::string text = dump(json{{"detail", "bad \xff byte"}});
  CHECK(json::accept(text));
}

TEST_CASE("text written at once says what the tree of values says") {
  const double third = 1.0 / 3;
  Run run;
  run.id = {7};
  run.detail = "a \"quote\", a \\, a line\nbreak, a bell\a, \xc3\xa9 and a stray \xff";
  run.wall_s = third;
  run.observations = {{{"m\n", {{"k\"", "v"}}}, 5e-324, ""}, {{}, 1e300, "ns"}, {{}, -0.0, ""}};
  for (const Fact& fact :
       {Fact(RunRecorded{run}), Fact(Noted{}),
        Fact(NoiseMeasured{{}, "", {}, "", std::numeric_limits<double>::quiet_NaN(), 1}),
        Fact(QuestionAnswered{{1}, {Question::guards, Verdict::invalid, "", Evidence{}, {}}})}) {
    const std::string text = to_json_text(fact);
    INFO(text);
    const json parsed = json::parse(text);
    CHECK(parsed == json::parse(dump(to_json(fact))));
    if (!std::holds_alternative<RunRecorded>(fact)) continue;
    CHECK(parsed.at("run").at("wall_s") == third);
    CHECK(std::signbit(parsed.at("run").at("observations").at(2).at("value").get<double>()));
  }
}

TEST_CASE("a change is read back") {
  const Change change{{{"k", "1"}}, {{"p", "s", "r"}}, "try/x"};
  CHECK(change_from_json(to_json(change)).value() == change);
  CHECK(change_from_json(json::array()).error().code == base::ErrorCode::corrupt);
}

}  // namespace hypotheses
