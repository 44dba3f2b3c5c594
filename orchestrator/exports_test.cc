// Exports hold what was recorded, in forms that other programs read.
#include "orchestrator/exports.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "hypotheses/json.h"
#include "store/sample_facts.h"

namespace orchestrator {
namespace {

using nlohmann::json;

struct Recorded {
  Recorded() {
    auto store = store::Store::open(folder.path());
    REQUIRE(store);
    for (const auto& step : store::sample::script()) REQUIRE(store->commit(step));
    auto opened = store::Reader::open(folder.path());
    REQUIRE(opened);
    reader.emplace(std::move(*opened));
    std::filesystem::create_directory(into);
  }
  base::TempDir folder;
  std::filesystem::path into = folder / "export";
  std::optional<store::Reader> reader;
};

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A strict reader of RFC 4180.
std::vector<std::vector<std::string>> table_of(const std::filesystem::path& file) {
  const auto text = base::read_file(file);
  REQUIRE(text);
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (quoted) {
      const bool doubled = c == '"' && i + 1 < text->size() && (*text)[i + 1] == '"';
      if (c == '"' && !doubled) {
        quoted = false;
      } else {
        row.back() += c;
        i += doubled;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\r') {
      REQUIRE((*text)[++i] == '\n');
      rows.push_back(std::exchange(row, {""}));
    } else {
      row.back() += c;
    }
  }
  CHECK_FALSE(quoted);
  CHECK(row == std::vector<std::string>{""});
  return rows;
}

}  // namespace

TEST_CASE("the facts come out as JSON lines that read back as the facts") {
  Recorded recorded;
  std::ostringstream out;
  const auto count = write_facts(*recorded.reader, out);
  REQUIRE(count);
  const auto story = store::sample::story();
  CHECK(*count == std::ssize(story));
  std::istringstream in(out.str());
  std::size_t at = 0;
  for (std::string line; std::getline(in, line); ++at) {
    const json parsed = json::parse(line);
    REQUIRE(at < story.size());
    CHECK(parsed.at("seq") == at + 1);
    const auto fact =
        hypotheses::fact_from_json(parsed.at("kind").get<std::string>(), parsed.at("fact"));
    REQUIRE(fact);
    CHECK(hypotheses::to_json_text(*fact) == hypotheses::to_json_text(story[at]));
  }
  CHECK(at == story.size());
}

TEST_CASE("JSON lines of things: one a line, with what became of them") {
  Recorded recorded;
  const auto files = export_json_lines(*recorded.reader, recorded.into);
  REQUIRE(files);
  REQUIRE(files->size() == 4);
  for (const auto& file : *files) {
    INFO(file.file);
    const auto lines = lines_of(file.file);
    CHECK(std::ssize(lines) == file.items);
    for (const auto& line : lines) CHECK(json::parse(line).is_object());
  }
  const auto hypotheses = lines_of(recorded.into / "hypotheses.jsonl");
  REQUIRE(hypotheses.size() == 2);
  CHECK(json::parse(hypotheses[0]).at("verdict") == "supported");
  CHECK(json::parse(hypotheses[0]).at("answers").size() == 2);
  CHECK(lines_of(recorded.into / "experiments.jsonl").size() == 3);
  CHECK(lines_of(recorded.into / "runs.jsonl").size() == 20);
}

TEST_CASE("CSV tables have their names in the first line and one width") {
  Recorded recorded;
  const auto files = export_csv(*recorded.reader, recorded.into);
  REQUIRE(files);
  for (const auto& file : *files) {
    INFO(file.file);
    const auto rows = table_of(file.file);
    REQUIRE(std::ssize(rows) == file.items + 1);
    for (const auto& row : rows) CHECK(row.size() == rows[0].size());
  }
  const auto hypotheses = table_of(recorded.into / "hypotheses.csv");
  CHECK(hypotheses[0][4] == "claim");
  CHECK(hypotheses[1][4] == store::sample::hypothesis(1, 0).claim);
  CHECK(hypotheses[1][6] == "kda_decode.time{batch=1,len=64}");  // held a comma
  const auto observations = table_of(recorded.into / "observations.csv");
  CHECK(observations.size() == 41);
  CHECK(observations[1] == std::vector<std::string>{"R-1", "E-1", "candidate", "kda_decode.time",
                                                    "batch=1,len=64", "1001", "ns"});
}

TEST_CASE("a night's base values come out as Bencher's metrics") {
  Recorded recorded;
  const auto files = export_bmf(*recorded.reader, recorded.into);
  REQUIRE(files);
  REQUIRE(files->size() == 1);
  CHECK(files->front().file == recorded.into / "N-1.json");
  const json report = json::parse(*base::read_file(recorded.into / "N-1.json"));
  const json& time = report.at("kda_decode.bench{batch=1,len=64}").at("kda_decode.time");
  // The base runs of E-2 are ... R-18 with 1002, 1004 ... 1018 ns.
  CHECK(time.at("value") == 1010);
  CHECK(time.at("lower_value") == 1002);
  CHECK(time.at("upper_value") == 1018);
  std::ostringstream out;
  const auto newest = write_newest_bmf(*recorded.reader, out);
  REQUIRE(newest);
  CHECK(*newest == 2);
  CHECK(json::parse(out.str()) == report);
}

TEST_CASE("an export that cannot be written says so") {
  Recorded recorded;
  const auto error = export_csv(*recorded.reader, recorded.folder / "nowhere");
  REQUIRE_FALSE(error);
  CHECK(error.error().code == base::ErrorCode::io);
}

}  // namespace orchestrator
