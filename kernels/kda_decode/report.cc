#include "kernels/kda_decode/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "kernels/kda_decode/compare.h"

namespace kernels::kda_decode {
namespace {

using Json = nlohmann::ordered_json;

struct Worst {
  double rms = 0, max = 0, state_rms = 0;
};

Worst worst_of(const std::vector<CaseResult>& results, GateForm form) {
  Worst w;
  for (const CaseResult& r : results) {
    if (r.setup.form != form) continue;
    for (double rms : r.rms) w.rms = worse(rms, w.rms);
    w.max = worse(r.max, w.max);
    w.state_rms = worse(r.state_rms, w.state_rms);
  }
  return w;
}

std::string metric_line(const char* name, double value, const char* gate) {
  Json line{{"metric", name}, {"value", value}, {"unit", "1"}, {"conditions", {{"gate", gate}}}};
  return line.dump() + "\n";
}

Json mismatch_json(const Mismatch& m) {
  Json json{
      {"in", m.where}, {"case", m.case_name}, {"step", m.step}, {"slot", m.slot}, {"head", m.head}};
  json["row"] = m.row ? Json(*m.row) : Json(nullptr);
  json["column"] = m.column;
  json["got"] = m.got;
  json["want"] = m.want;
  return json;
}

// The case that gained the most error over its steps; one that is not finite counts as most of all.
std::string growth_text(const std::vector<CaseResult>& results) {
  const CaseResult* chosen = nullptr;
  double most = 0;
  for (const CaseResult& r : results) {
    const double gained = slope(r.rms) * double(r.rms.size());
    if (chosen && !(gained > most) && !std::isnan(gained)) continue;
    chosen = &r;
    most = gained;
    if (std::isnan(gained)) break;
  }
  if (!chosen) return "no case ran";
  char text[160];
  const char* name = chosen->setup.name.c_str();
  if (std::isfinite(most)) {
    std::snprintf(text, sizeof text, "%+.2g relative rms per step over %zu steps (case %s)",
                  slope(chosen->rms), chosen->rms.size(), name);
  } else {
    std::snprintf(text, sizeof text, "not finite (case %s)", name);
  }
  return text;
}

}  // namespace

std::string report(const std::vector<CaseResult>& results, const Checked& checked) {
  std::string out;
  Worst all;
  for (GateForm form : {GateForm::softplus, GateForm::bounded}) {
    const char* gate = form == GateForm::softplus ? "softplus" : "bounded";
    const Worst w = worst_of(results, form);
    out += metric_line("kda_decode.rms", w.rms, gate);
    out += metric_line("kda_decode.max_error", w.max, gate);
    out += metric_line("kda_decode.state_rms", w.state_rms, gate);
    all = {worse(w.rms, all.rms), worse(w.max, all.max), worse(w.state_rms, all.state_rms)};
  }
  const auto failed =
      std::ranges::find_if(results, [](const auto& r) { return r.first_mismatch.has_value(); });
  Json failing = Json::array();
  for (const CaseResult& r : results) {
    if (r.first_mismatch) failing.push_back(r.setup.name);
  }
  Json line{{"check", "kda_decode"}, {"ok", passed(results)}};
  line["first_mismatch"] =
      failed == results.end() ? Json(nullptr) : mismatch_json(*failed->first_mismatch);
  line["detail"] = {{"rms", all.rms},
                    {"max_error", all.max},
                    {"state_rms", all.state_rms},
                    {"tolerance", kTolerance},
                    {"max_tolerance", kMaxTolerance},
                    {"growth", growth_text(results)},
                    {"cases", results.size()},
                    {"failing_cases", failing},
                    {"variant", checked.variant},
                    {"v_tile", checked.v_tile},
                    {"ring", checked.ring},
                    {"seed", checked.seed}};
  return out + line.dump() + "\n";
}

}  // namespace kernels::kda_decode
