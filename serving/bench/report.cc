#include "serving/bench/report.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

namespace serving::bench {
namespace {

using Json = nlohmann::ordered_json;

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {  // of the population, as numpy's std
  const double centre = mean(values);
  double sum = 0;
  for (double value : values) sum += (value - centre) * (value - centre);
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

std::string percentile_name(double p) {
  std::ostringstream name;
  name << "p" << p;
  return name.str();
}

void add_statistics(Json& out, const std::string& metric, const std::vector<double>& values_s,
                    const std::vector<double>& percentiles) {
  std::vector<double> values_ms(values_s);
  for (double& value : values_ms) value *= 1e3;
  out["mean_" + metric + "_ms"] = mean(values_ms);
  out["median_" + metric + "_ms"] = percentile(values_ms, 50);
  out["std_" + metric + "_ms"] = deviation(values_ms);
  for (double p : percentiles) {
    out[percentile_name(p) + "_" + metric + "_ms"] = percentile(values_ms, p);
  }
}

bool is_good(const RequestRecord& record, const Goodput& limits) {
  const std::map<std::string, double> values_ms = {{"ttft", record.ttft_s * 1e3},
                                                   {"tpot", record.tpot_s() * 1e3},
                                                   {"e2el", record.latency_s * 1e3}};
  return std::all_of(limits.begin(), limits.end(),
                     [&](const auto& limit) { return values_ms.at(limit.first) <= limit.second; });
}

// One list a metric over the complete requests.
struct Samples {
  std::vector<double> ttft_s, tpot_s, itl_s, latency_s;
  long completed = 0, good = 0, input_tokens = 0, output_tokens = 0, cached_tokens = 0;
  double late_s = 0;
};

Samples collect(const std::vector<RequestRecord>& records, const Goodput& limits) {
  Samples samples;
  for (const RequestRecord& record : records) {
    samples.late_s = std::max(samples.late_s, record.late_s);
    if (!record.error.empty()) continue;
    ++samples.completed;
    samples.good += is_good(record, limits);
    samples.input_tokens += record.input_tokens;
    samples.output_tokens += record.output_tokens;
    samples.cached_tokens += record.cached_tokens;
    samples.ttft_s.push_back(record.ttft_s);
    if (record.output_tokens > 1) samples.tpot_s.push_back(record.tpot_s());
    samples.itl_s.insert(samples.itl_s.end(), record.itl_s.begin(), record.itl_s.end());
    samples.latency_s.push_back(record.latency_s);
  }
  return samples;
}

void add_details(Json& out, const std::vector<RequestRecord>& records) {
  for (const char* name : {"input_lens", "output_lens", "ttfts", "itls", "errors"}) {
    out[name] = Json::array();
  }
  for (const RequestRecord& record : records) {
    out["input_lens"].push_back(record.input_tokens);
    out["output_lens"].push_back(record.output_tokens);
    out["ttfts"].push_back(record.ttft_s);
    out["itls"].push_back(record.itl_s);
    out["errors"].push_back(record.error);
  }
}

// The same error of a hundred requests is one line.
Json error_counts(const std::vector<RequestRecord>& records) {
  std::map<std::string, int> counts;
  for (const RequestRecord& record : records) {
    if (!record.error.empty()) ++counts[record.error];
  }
  Json list = Json::object();
  for (const auto& [error, count] : counts) list[error] = count;
  return list;
}

}  // namespace

Result<Goodput> parse_goodput(const std::vector<std::string>& limits) {
  Goodput goodput;
  for (const std::string& limit : limits) {
    const auto colon = std::min(limit.find(':'), limit.size());
    const std::string name = limit.substr(0, colon);
    char* end = nullptr;
    const std::string text = limit.substr(std::min(colon + 1, limit.size()));
    const double limit_ms = std::strtod(text.c_str(), &end);
    const bool known = name == "ttft" || name == "tpot" || name == "e2el";
    if (!known || text.empty() || *end != '\0' || !(limit_ms > 0)) {
      return fail(ErrorCode::bad_input,
                  "--goodput takes ttft:MS, tpot:MS and e2el:MS, not \"" + limit + "\"");
    }
    goodput[name] = limit_ms;
  }
  return goodput;
}

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = p / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

Json report(const LoadResult& result, const ReportOptions& options) {
  const Samples samples = collect(result.records, options.goodput);
  const auto per_second = [&](long count) {
    return result.duration_s > 0 ? static_cast<double>(count) / result.duration_s : 0;
  };
  Json out;
  out["duration"] = result.duration_s;
  out["completed"] = samples.completed;
  out["failed"] = static_cast<long>(result.records.size()) - samples.completed;
  out["total_input_tokens"] = samples.input_tokens;
  out["total_cached_tokens"] = samples.cached_tokens;
  out["total_output_tokens"] = samples.output_tokens;
  out["request_throughput"] = per_second(samples.completed);
  out["request_goodput"] = options.goodput.empty() ? Json() : Json(per_second(samples.good));
  out["output_throughput"] = per_second(samples.output_tokens);
  out["total_token_throughput"] = per_second(samples.input_tokens + samples.output_tokens);
  add_statistics(out, "ttft", samples.ttft_s, options.percentiles);
  add_statistics(out, "tpot", samples.tpot_s, options.percentiles);
  add_statistics(out, "itl", samples.itl_s, options.percentiles);
  add_statistics(out, "e2el", samples.latency_s, options.percentiles);
  out["max_lateness_ms"] = samples.late_s * 1e3;
  out["error_counts"] = error_counts(result.records);
  if (options.detailed) add_details(out, result.records);
  return out;
}

std::string summary(const Json& report) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(2);
  const auto line = [&](const char* name, const char* key) {
    if (!report.contains(key) || report[key].is_null()) return;
    out << std::left << std::setw(36) << name;
    if (report[key].is_number_integer()) {
      out << report[key].get<long>() << '\n';
    } else {
      out << report[key].get<double>() << '\n';
    }
  };
  line("Completed requests", "completed");
  line("Failed requests", "failed");
  line("Duration (s)", "duration");
  line("Input tokens", "total_input_tokens");
  line("  of them cached", "total_cached_tokens");
  line("Output tokens", "total_output_tokens");
  line("Requests (/s)", "request_throughput");
  line("Good requests (/s)", "request_goodput");
  line("Output tokens (/s)", "output_throughput");
  line("All tokens (/s)", "total_token_throughput");
  for (const auto& [name, metric] :
       std::initializer_list<std::pair<const char*, std::string>>{{"Time to first token", "ttft"},
                                                                  {"Time per output token", "tpot"},
                                                                  {"Inter-token latency", "itl"},
                                                                  {"End to end", "e2el"}}) {
    out << name << " (ms)\n";
    line("  mean", ("mean_" + metric + "_ms").c_str());
    line("  median", ("median_" + metric + "_ms").c_str());
    line("  p99", ("p99_" + metric + "_ms").c_str());
  }
  for (const auto& [error, count] : report["error_counts"].items()) {
    out << count.get<int>() << " x " << error << '\n';
  }
  return out.str();
}

}  // namespace serving::bench
