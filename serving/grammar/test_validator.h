// A JSON schema validator of its own for tests: it walks values, shares nothing with the grammar,
// and knows only the keywords that the grammar knows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace serving {

// Why `value` breaks `schema`; empty where it does not.
std::string broken_rule(const nlohmann::json& schema, const nlohmann::json& value,
                        const nlohmann::json& root);

}  // namespace serving
