// Ends a text before the first stop string in it, and until then shows nothing that may turn out to
// be the beginning of one, however the tokens cut it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace serving {

class StopFilter {
 public:
  explicit StopFilter(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // What can be shown now, of `text` and what was kept before. After a stop: nothing.
  std::string add(std::string_view text);
  // What was kept, once no text follows.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;  // none empty
  std::string kept_;
  bool stopped_ = false;
};

}  // namespace serving
