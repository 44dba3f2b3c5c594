#pragma once

namespace orchestrator {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace orchestrator
