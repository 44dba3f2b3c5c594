#include "hypotheses/json.h"
#include "hypotheses/json_fields.h"

namespace hypotheses {

nlohmann::json to_json(const Campaign& campaign) { return JsonWriter::encode(campaign); }
nlohmann::json to_json(const Night& night) { return JsonWriter::encode(night); }
nlohmann::json to_json(const Hypothesis& hypothesis) { return JsonWriter::encode(hypothesis); }
nlohmann::json to_json(const Experiment& experiment) { return JsonWriter::encode(experiment); }
nlohmann::json to_json(const Run& run) { return JsonWriter::encode(run); }
nlohmann::json to_json(const MergeRequest& merge) { return JsonWriter::encode(merge); }
nlohmann::json to_json(const Evidence& evidence) { return JsonWriter::encode(evidence); }
nlohmann::json to_json(const Answer& answer) { return JsonWriter::encode(answer); }
nlohmann::json to_json(const PlannerTurn& turn) { return JsonWriter::encode(turn); }
nlohmann::json to_json(const Change& change) { return JsonWriter::encode(change); }
nlohmann::json to_json(const MachineState& state) { return JsonWriter::encode(state); }

base::Result<Change> change_from_json(const nlohmann::json& json) {
  return decode_json<Change>(json, "change");
}

base::Result<MachineState> machine_state_from_json(const nlohmann::json& json) {
  return decode_json<MachineState>(json, "machine");
}

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace hypotheses
