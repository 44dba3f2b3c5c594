// A JSON schema (2020-12) compiled to a grammar. Understood: type (also a list of types), enum,
// const, anyOf, oneOf (where its branches exclude each other), allOf of one, $ref within the
// schema, $defs; properties, required, additionalProperties; items, minItems, maxItems; minLength,
// maxLength; true and false. Annotations are ignored. Any other keyword is refused by name: an
// answer that looks right and breaks a rule would be worse.
//
// Every text of the grammar satisfies the schema; not every value that does is a text of it:
// properties come in the order of the schema, and others only where additionalProperties says so
// (or where the schema names none), with names of plain ASCII.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "serving/core/result.h"
#include "serving/grammar/grammar.h"

namespace serving {

Result<Grammar> grammar_of_schema(const nlohmann::ordered_json& schema);

}  // namespace serving
