// How fast this machine copies memory: what no program that moves bytes can beat.
#pragma once

#include "base/clock.h"

namespace runners {

// Bytes per second, read and written ones both counted, of a copy between two buffers that no cache
// holds, by all cores at once: the best of a few passes. Takes about a fifth of a second and 256
// MiB.
double copy_rate(const base::Clock& clock);

}  // namespace runners
