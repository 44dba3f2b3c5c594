// JSON of the vocabulary: the form in the event log, the API and the exports. Enums are the words
// of words.h, ids their text ("H-7"), instants milliseconds; no NaN or infinity ever (they become
// null). Keys are the names of the fields; "none" (an id, a commit, an optional) is null. A seed is
// a text of digits, since a JavaScript number would lose some. Evidence has "interval": [low, high]
// for its two fields, null = unbounded; any other number that is null reads back as 0, so an
// e-value as no evidence. For readers, not read back: "text" of a prediction and a change,
// "effect_text" of evidence.
//
// Reading never throws: a missing key, a wrong type, an unknown word or a number out of range is
// Error corrupt and names the key. Keys that are not known are ignored.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "hypotheses/facts.h"

namespace hypotheses {

nlohmann::json to_json(const Campaign&);
nlohmann::json to_json(const Night&);
nlohmann::json to_json(const Hypothesis&);
nlohmann::json to_json(const Experiment&);
nlohmann::json to_json(const Run&);
nlohmann::json to_json(const MergeRequest&);
nlohmann::json to_json(const Evidence&);  // with "interval": [lo, hi] and "effect_text"
nlohmann::json to_json(const Answer&);
nlohmann::json to_json(const PlannerTurn&);
nlohmann::json to_json(const Change&);
nlohmann::json to_json(const MachineState&);
// {"knobs": [...], "edits": [...], "branch": "..."}, all three.
base::Result<Change> change_from_json(const nlohmann::json&);
base::Result<MachineState> machine_state_from_json(const nlohmann::json&);

// The payload alone; the kind travels beside it (kind_of).
nlohmann::json to_json(const Fact&);
std::string to_json_text(const Fact&);  // the same, quicker; the keys in another order
base::Result<Fact> fact_from_json(std::string_view kind, const nlohmann::json& payload);

// Text that may hold anything (output of foreign programs) as valid UTF-8 JSON text.
std::string dump(const nlohmann::json&);

}  // namespace hypotheses
