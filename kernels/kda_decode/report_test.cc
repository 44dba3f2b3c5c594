#include "kernels/kda_decode/report.h"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace kernels::kda_decode {
namespace {

std::vector<nlohmann::json> lines(const std::vector<CaseResult>& results) {
  std::istringstream text(report(results, {1, 32, 16, 9}));
  std::vector<nlohmann::json> out;
  for (std::string line; std::getline(text, line);) out.push_back(nlohmann::json::parse(line));
  return out;
}

TEST_CASE("a passed check says its metrics per gate, and ok last") {
  const auto out = lines(run_check(cpu_decoder(1, 32), 4, 9));
  REQUIRE(out.size() == 7);
  CHECK(out[0]["metric"] == "kda_decode.rms");
  CHECK(out[0]["unit"] == "1");
  CHECK(out[0]["conditions"]["gate"] == "softplus");
  CHECK(out[0]["value"].get<double>() > 0);
  CHECK(out[3]["conditions"]["gate"] == "bounded");
  CHECK(out[6]["check"] == "kda_decode");
  CHECK(out[6]["ok"] == true);
  CHECK(out[6]["first_mismatch"].is_null());
  CHECK(out[6]["detail"]["growth"].get<std::string>().find("per step over") != std::string::npos);
}

TEST_CASE("a NaN is written as null and named as the growth") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CaseResult bad;
  bad.setup.name = "one";
  bad.rms = {1e-7, nan};
  bad.max = nan;
  bad.first_mismatch = Mismatch{"o", "one", 1, 0, 2, {}, 3, nan, 0.5};
  const auto out = lines({bad});
  CHECK(out[0]["value"].is_null());
  const auto& last = out.back();
  CHECK(last["ok"] == false);
  CHECK(last["first_mismatch"]["got"].is_null());
  CHECK(last["first_mismatch"]["column"] == 3);
  CHECK(last["detail"]["growth"] == "not finite (case one)");
  CHECK(last["detail"]["failing_cases"] == nlohmann::json{"one"});
}

}  // namespace
}  // namespace kernels::kda_decode
