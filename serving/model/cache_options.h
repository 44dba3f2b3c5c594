// How much is remembered, and how.
#pragma once

#include "kernels/cache/cache.h"

namespace serving::model {

// What a number in the attention's cache is. i8: with a scale for each position and head.
enum class CacheType { f32, f16, i8 };

struct CacheOptions {
  CacheType type = CacheType::f32;
  int pages = 0;
  int page_tokens = 16;  // multiple of 16
  int slots = 0;
};

}  // namespace serving::model
