#include "orchestrator/exports.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "hypotheses/json.h"
#include "hypotheses/json_text.h"

namespace orchestrator {

namespace fs = std::filesystem;
using namespace hypotheses;  // what is exported is this file's subject
using nlohmann::json;

namespace {

base::Status each_event(const store::Reader& reader,
                        const std::function<void(const store::Event&)>& visit) {
  constexpr int kBatch = 1000;
  for (std::int64_t seq = 0;;) {
    NS_ASSIGN(events, reader.events_after(seq, kBatch));
    for (const auto& event : events) visit(event);
    if (events.empty()) return {};
    seq = events.back().seq;
  }
}

// The runs of the log, in their order.
base::Status each_run(const store::Reader& reader, const std::function<void(const Run&)>& visit) {
  return each_event(reader, [&](const store::Event& event) {
    if (const auto* recorded = std::get_if<RunRecorded>(&event.fact)) visit(recorded->run);
  });
}

// Ids count from 1 without gaps.
template <class Id, class Get, class Visit>
base::Result<std::int64_t> each_by_id(Get get, Visit visit) {
  for (std::int64_t id = 1;; ++id) {
    NS_ASSIGN(value, get(Id{id}));
    if (!value) return id - 1;
    visit(*value);
  }
}

template <class Visit>
base::Result<std::int64_t> each_hypothesis(const store::Reader& reader, Visit visit) {
  return each_by_id<HypothesisId>([&](auto id) { return reader.hypothesis(id); }, visit);
}
template <class Visit>
base::Result<std::int64_t> each_experiment(const store::Reader& reader, Visit visit) {
  return each_by_id<ExperimentId>([&](auto id) { return reader.experiment(id); }, visit);
}

// One file of an export; `write` puts it out and gives the number of its items.
base::Status add_file(std::vector<Exported>& files, const fs::path& file,
                      const std::function<base::Result<std::int64_t>(std::ostream&)>& write) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  auto items = write(out);
  if (!items) return tl::unexpected(items.error());
  out.close();
  if (!out) {
    return base::fail(base::ErrorCode::io,
                      "the export could not be written; is the disk full, or the folder read-only?",
                      file.string());
  }
  files.push_back({file, *items});
  return {};
}

// A field of CSV: quoted where it has to be (RFC 4180).
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}
std::string field(std::string_view word) { return field(std::string(word)); }
std::string field(const char* word) { return field(std::string(word)); }
std::string field(std::int64_t number) { return std::to_string(number); }
std::string field(int number) { return std::to_string(number); }
std::string field(bool yes) { return yes ? "true" : "false"; }
std::string field(double number) {
  std::string text;
  append_json(text, number);
  return text == "null" ? "" : text;
}
template <class Tag>
std::string field(base::Id<Tag> id) {
  return id ? id.text() : "";
}
std::string field(const CommitId& commit) { return commit.hex; }

template <class... Values>
void row(std::ostream& out, const Values&... values) {
  const char* comma = "";
  ((out << comma << field(values), comma = ","), ...);
  out << "\r\n";
}

Evidence evidence_or_none(const std::optional<Evidence>& evidence) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // an empty field
  if (evidence) return *evidence;
  Evidence none;
  none.effect = none.low = none.high = none.base_value = none.candidate_value = kNone;
  return none;
}

void hypothesis_row(std::ostream& out, const Hypothesis& h) {
  const Evidence e = evidence_or_none(h.evidence);
  row(out, h.id, h.campaign, h.night, h.parent, h.claim, to_text(h.change),
      to_text(h.prediction.key), h.prediction.log_ratio, to_text(h.origin), h.opened.ms,
      to_text(h.state), h.verdict ? to_text(*h.verdict) : "", h.reason, e.effect, e.low, e.high,
      e.pairs, h.cost_s, h.base, h.candidate);
}

void experiment_row(std::ostream& out, const Experiment& x) {
  const Evidence e = evidence_or_none(x.answer ? x.answer->evidence : std::nullopt);
  row(out, x.id, x.campaign, x.night, x.hypothesis, x.merge, to_text(x.question), x.probe,
      x.key.metric, hypotheses::to_text(x.key.conditions), x.base, x.candidate, to_text(x.state),
      x.answer ? to_text(x.answer->verdict) : "", x.answer ? x.answer->reason : "", e.effect, e.low,
      e.high, e.pairs, x.cost_s);
}

}  // namespace

base::Result<std::int64_t> write_facts(const store::Reader& reader, std::ostream& out) {
  std::int64_t lines = 0;
  NS_TRY(each_event(reader, [&](const store::Event& event) {
    out << "{\"seq\":" << event.seq << ",\"at_ms\":" << event.at.ms << ",\"kind\":\""
        << kind_of(event.fact) << "\",\"fact\":" << to_json_text(event.fact) << "}\n";
    ++lines;
  }));
  return lines;
}

base::Result<std::vector<Exported>> export_json_lines(const store::Reader& reader,
                                                      const fs::path& folder) {
  std::vector<Exported> files;
  NS_TRY(add_file(files, folder / "facts.jsonl",
                  [&](std::ostream& out) { return write_facts(reader, out); }));
  NS_TRY(add_file(files, folder / "hypotheses.jsonl", [&](std::ostream& out) {
    return each_hypothesis(reader, [&](const auto& h) { out << dump(to_json(h)) << '\n'; });
  }));
  NS_TRY(add_file(files, folder / "experiments.jsonl", [&](std::ostream& out) {
    return each_experiment(reader, [&](const auto& x) { out << dump(to_json(x)) << '\n'; });
  }));
  NS_TRY(
      add_file(files, folder / "runs.jsonl", [&](std::ostream& out) -> base::Result<std::int64_t> {
        std::int64_t lines = 0;
        NS_TRY(each_run(reader, [&](const Run& run) {
          out << dump(to_json(run)) << '\n';
          ++lines;
        }));
        return lines;
      }));
  return files;
}

base::Result<std::vector<Exported>> export_csv(const store::Reader& reader,
                                               const fs::path& folder) {
  std::vector<Exported> files;
  NS_TRY(add_file(files, folder / "hypotheses.csv", [&](std::ostream& out) {
    row(out, "id", "campaign", "night", "parent", "claim", "change", "metric",
        "predicted_log_ratio", "origin", "opened_ms", "state", "verdict", "reason", "effect", "low",
        "high", "pairs", "cost_s", "base", "candidate");
    return each_hypothesis(reader, [&](const auto& h) { hypothesis_row(out, h); });
  }));
  NS_TRY(add_file(files, folder / "experiments.csv", [&](std::ostream& out) {
    row(out, "id", "campaign", "night", "hypothesis", "merge", "question", "probe", "metric",
        "conditions", "base", "candidate", "state", "verdict", "reason", "effect", "low", "high",
        "pairs", "cost_s");
    return each_experiment(reader, [&](const auto& x) { experiment_row(out, x); });
  }));
  NS_TRY(add_file(files, folder / "runs.csv", [&](std::ostream& out) -> base::Result<std::int64_t> {
    row(out, "id", "experiment", "attempt", "side", "position", "measured", "outcome", "detail",
        "started_ms", "wall_s", "machine", "load", "mhz", "steal_s", "sandbox");
    std::int64_t rows = 0;
    NS_TRY(each_run(reader, [&](const Run& r) {
      row(out, r.id, r.experiment, r.attempt, to_text(r.side), r.position, r.measured,
          to_text(r.outcome), r.detail, r.started.ms, r.wall_s, r.machine.machine, r.machine.load,
          r.machine.mhz, r.machine.steal_s, r.machine.sandbox);
      ++rows;
    }));
    return rows;
  }));
  NS_TRY(add_file(files, folder / "observations.csv",
                  [&](std::ostream& out) -> base::Result<std::int64_t> {
                    row(out, "run", "experiment", "side", "metric", "conditions", "value", "unit");
                    std::int64_t rows = 0;
                    NS_TRY(each_run(reader, [&](const Run& r) {
                      for (const auto& o : r.observations) {
                        row(out, r.id, r.experiment, to_text(r.side), o.key.metric,
                            hypotheses::to_text(o.key.conditions), o.value, o.unit);
                        ++rows;
                      }
                    }));
                    return rows;
                  }));
  return files;
}

namespace {

// Of the base commit, by probe and conditions, then by metric.
using NightValues = std::map<std::string, std::map<std::string, std::vector<double>>>;

base::Result<NightValues> values_of(const store::Reader& reader, NightId night) {
  constexpr int kPage = 500;
  NightValues values;
  store::Page<ExperimentId> page{{}, kPage};
  for (;;) {
    NS_ASSIGN(experiments, reader.experiments(night, page));
    for (const Experiment& experiment : experiments) {
      NS_ASSIGN(runs, reader.runs(experiment.id));
      for (const Run& run : runs) {
        if (!run.measured || run.side != Side::base || run.outcome != RunOutcome::ok) continue;
        for (const auto& observation : run.observations) {
          std::string name = experiment.probe;
          if (!observation.key.conditions.empty()) {
            name += "{" + hypotheses::to_text(observation.key.conditions) + "}";
          }
          values[name][observation.key.metric].push_back(observation.value);
        }
      }
    }
    if (std::ssize(experiments) < kPage) return values;
    page.before = experiments.back().id;
  }
}

std::int64_t write_bmf(const NightValues& values, std::ostream& out) {
  json report = json::object();
  std::int64_t count = 0;
  for (const auto& [benchmark, metrics] : values) {
    for (const auto& [metric, in_order] : metrics) {
      auto all = in_order;
      std::sort(all.begin(), all.end());
      const std::size_t middle = all.size() / 2;
      const double median = all.size() % 2 == 1 ? all[middle] : (all[middle - 1] + all[middle]) / 2;
      report[benchmark][metric] = {
          {"value", median}, {"lower_value", all.front()}, {"upper_value", all.back()}};
      ++count;
    }
  }
  out << report.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  return count;
}

}  // namespace

base::Result<std::vector<Exported>> export_bmf(const store::Reader& reader,
                                               const fs::path& folder) {
  std::vector<Exported> files;
  for (std::int64_t id = 1;; ++id) {
    NS_ASSIGN(night, reader.night({id}));
    if (!night) return files;
    NS_ASSIGN(values, values_of(reader, night->id));
    if (values.empty()) continue;
    NS_TRY(add_file(
        files, folder / (night->id.text() + ".json"),
        [&](std::ostream& out) -> base::Result<std::int64_t> { return write_bmf(values, out); }));
  }
}

base::Result<std::int64_t> write_newest_bmf(const store::Reader& reader, std::ostream& out) {
  NS_ASSIGN(overview, reader.overview());
  for (std::int64_t id = overview.nights; id > 0; --id) {
    NS_ASSIGN(values, values_of(reader, {id}));
    if (!values.empty()) return write_bmf(values, out);
  }
  return 0;
}

}  // namespace orchestrator
