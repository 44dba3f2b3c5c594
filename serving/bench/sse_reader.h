// Cuts a stream of server-sent events (WHATWG HTML, 9.2) into the text of their `data` fields,
// however the network cut it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace serving::bench {

class SseReader {
 public:
  // The events that `bytes` completes.
  std::vector<std::string> add(std::string_view bytes) {
    std::vector<std::string> events;
    for (char c : bytes) {
      if (c == '\r') continue;
      if (c != '\n') {
        line_ += c;
        continue;
      }
      if (line_.empty() && !data_.empty()) events.push_back(std::move(data_));
      if (line_.empty()) data_.clear();
      if (line_.starts_with("data:")) {
        if (!data_.empty()) data_ += '\n';
        data_ += line_.substr(line_.starts_with("data: ") ? 6 : 5);
      }
      line_.clear();
    }
    return events;
  }

 private:
  std::string line_, data_;
};

}  // namespace serving::bench
