// Which program this is, to the byte: what one build kept for itself another cannot take for its
// own.
#pragma once

#include <string>

namespace base {

// Hexadecimal digits of the linker's build id of the running program; empty where it was linked
// without one.
std::string build_id();

}  // namespace base
