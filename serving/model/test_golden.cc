#include "serving/model/test_golden.h"

#include <cstdlib>

namespace serving::model {

std::filesystem::path reference_models() {
  if (const char* set = std::getenv("NIGHTSHIFT_MODELS")) return set;
  return std::filesystem::path(NIGHTSHIFT_SOURCE_DIR).parent_path() / "shared" / "models";
}

}  // namespace serving::model
