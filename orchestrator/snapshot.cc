#include "orchestrator/snapshot.h"

#include "hypotheses/json_text.h"
#include "orchestrator/state_fields.h"

namespace orchestrator {

using hypotheses::Hypothesis;
using hypotheses::MergeRequest;

namespace {

constexpr std::string_view kLastLine = "end";

// One thing a line: its kind, a space, its JSON. The reader never holds more than a line's tree.
template <class T>
void add_line(std::string& text, std::string_view kind, const T& value) {
  text += kind;
  text += ' ';
  hypotheses::append_json(text, value);
  text += '\n';
}

tl::unexpected<base::Error> unreadable(const std::string& what) {
  return base::fail(base::ErrorCode::corrupt, "the snapshot cannot be read: " + what);
}

// Takes one line after the other into the state.
class SnapshotReader {
 public:
  explicit SnapshotReader(State& state) : state_(state) {}

  base::Status read(std::string_view kind, std::string_view json) {
    if (kind == "ids") return read_ids(json);
    if (kind == "campaign") return read_campaign(json);
    if (kind == "night") return read_night(json);
    if (kind == "hypothesis") {
      return keep<Hypothesis>(json, state_.hypotheses, [](const auto& h) { return h.id; });
    }
    if (kind == "experiment") {
      return keep<ExperimentRecord>(json, state_.experiments,
                                    [](const auto& record) { return record.experiment.id; });
    }
    if (kind == "merge") {
      return keep<MergeRequest>(json, state_.merges, [](const auto& merge) { return merge.id; });
    }
    return unreadable("a line of kind '" + std::string(kind) + "'");
  }

 private:
  template <class T>
  static base::Result<T> parse(std::string_view text, std::string_view kind) {
    const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded()) return unreadable("a " + std::string(kind) + " that is no JSON");
    return hypotheses::decode_json<T>(json, kind);
  }

  template <class T, class Map, class IdOf>
  base::Status keep(std::string_view json, Map& map, IdOf id_of) {
    NS_ASSIGN(value, parse<T>(json, "thing"));
    const auto id = id_of(value);
    map.emplace_hint(map.end(), id, std::move(value));
    return {};
  }

  base::Status read_ids(std::string_view json) {
    NS_ASSIGN(ids, parse<State>(json, "ids"));
    state_ = std::move(ids);
    return {};
  }
  base::Status read_campaign(std::string_view json) {
    NS_ASSIGN(record, parse<CampaignRecord>(json, "campaign"));
    NS_TRY(complete(record));
    state_.campaigns.emplace(record.campaign.id, std::move(record));
    return {};
  }
  base::Status read_night(std::string_view json) {
    NS_ASSIGN(record, parse<NightRecord>(json, "night"));
    const auto campaign = state_.campaigns.find(record.night.campaign);
    if (campaign == state_.campaigns.end()) return unreadable("a night of no campaign");
    if (!record.night.manifest.empty()) NS_TRY(complete(record, campaign->second));
    state_.nights.emplace(record.night.id, std::move(record));
    return {};
  }

  State& state_;
};

}  // namespace

std::string to_snapshot(const State& state) {
  std::string text;
  add_line(text, "ids", state);
  for (const auto& [id, record] : state.campaigns) add_line(text, "campaign", record);
  for (const auto& [id, record] : state.nights) add_line(text, "night", record);
  for (const auto& [id, hypothesis] : state.hypotheses) add_line(text, "hypothesis", hypothesis);
  for (const auto& [id, record] : state.experiments) add_line(text, "experiment", record);
  for (const auto& [id, merge] : state.merges) add_line(text, "merge", merge);
  text += kLastLine;
  return text;
}

base::Result<State> from_snapshot(const std::string& text) {
  State state;
  SnapshotReader reader(state);
  std::string_view rest = text;
  while (rest != kLastLine) {
    const auto end = rest.find('\n');
    const auto gap = rest.find(' ');
    if (end == rest.npos || gap > end) return unreadable("it ends in the middle");
    NS_TRY(reader.read(rest.substr(0, gap), rest.substr(gap + 1, end - gap - 1)));
    rest.remove_prefix(end + 1);
  }
  return state;
}

}  // namespace orchestrator
