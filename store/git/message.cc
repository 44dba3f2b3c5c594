#include "store/git/message.h"

#include <git2.h>

#include <algorithm>

#include "store/git/handles.h"

namespace store::git {
namespace {

bool one_line(std::string_view text) {
  return text.find_first_of(std::string_view("\n\r\0", 3)) == std::string_view::npos;
}

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool trailer_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return c == '-' || (c < 128 && std::isalnum(c));
  });
}

base::Status check_text(const CommitText& text) {
  using base::ErrorCode;
  if (blank(text.subject) || !one_line(text.subject)) {
    return base::fail(ErrorCode::bad_input, "a commit's subject must be one non-empty line",
                      "'" + text.subject + "'");
  }
  if (text.body.find('\0') != std::string::npos) {
    return base::fail(ErrorCode::bad_input, "a commit's body must not contain a NUL byte");
  }
  for (const auto& [key, value] : text.trailers) {
    // A line break in a value would let foreign text write trailers of its own.
    if (!trailer_key(key) || blank(value) || !one_line(value)) {
      return base::fail(ErrorCode::bad_input,
                        "a trailer must be a key of letters, digits and '-', and a value of one "
                        "non-empty line",
                        "'" + key + ": " + value + "'");
    }
  }
  return {};
}

// git takes a line that begins with "---" for the start of a patch and reads no trailers after it.
std::string without_patch_marks(const std::string& message) {
  std::string out;
  bool line_start = true;
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (line_start && message.compare(i, 3, "---") == 0) out += ' ';
    out += message[i];
    line_start = message[i] == '\n';
  }
  return out;
}

}  // namespace

base::Result<std::string> compose(const CommitText& text) {
  NS_TRY(check_text(text));
  std::string message = text.subject + "\n";
  const auto first = text.body.find_first_not_of("\r\n");
  if (!blank(text.body)) {
    const auto last = text.body.find_last_not_of(" \t\r\n");
    message += "\n" + text.body.substr(first, last + 1 - first) + "\n";
  }
  if (!text.trailers.empty()) message += "\n";
  for (const auto& [key, value] : text.trailers) message += key + ": " + value + "\n";
  return without_patch_marks(message);
}

base::Result<Trailers> trailers_of(const std::string& message) {
  start_library();
  git_message_trailer_array array{};
  NS_TRY(check(git_message_trailers(&array, message.c_str()), "cannot read trailers", message));
  Trailers out;
  for (std::size_t i = 0; i < array.count; ++i) {
    out.emplace_back(array.trailers[i].key, array.trailers[i].value);
  }
  git_message_trailer_array_free(&array);
  return out;
}

}  // namespace store::git
