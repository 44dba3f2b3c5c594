#include "hypotheses/json_text.h"

#include <algorithm>

#include "hypotheses/json.h"
#include "hypotheses/json_fact_fields.h"

namespace hypotheses {

void append_quoted(std::string& out, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char byte) {
    return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\';
  });
  if (!plain) return void(out += dump(nlohmann::json(text)));
  out += '"';
  out += text;
  out += '"';
}

std::string to_json_text(const Fact& fact) {
  std::string text;
  text.reserve(1024);
  std::visit([&](const auto& alternative) { append_json(text, alternative); }, fact);
  return text;
}

}  // namespace hypotheses
