#include "kernels/kda_decode/shape.h"

#include <stdexcept>
#include <string>

namespace kernels::kda_decode {
namespace {

void require(bool ok, const std::string& what) {
  if (!ok) throw std::invalid_argument("kda_decode: " + what);
}

void validate(const Shape& s, int ring) {
  require(s.batch >= 1, "batch must be at least 1, found " + std::to_string(s.batch));
  require(s.heads >= 1 && s.value_heads >= s.heads && s.value_heads % s.heads == 0,
          "value_heads must be a multiple of heads, found " + std::to_string(s.value_heads) +
              " and " + std::to_string(s.heads));
  require(s.key_dim >= kLanePad && s.key_dim % kLanePad == 0 && s.key_dim <= kMaxKeyDim,
          "K must be a multiple of 16 up to 256, found " + std::to_string(s.key_dim));
  require(s.value_dim >= kLanePad && s.value_dim % kLanePad == 0,
          "V must be a multiple of 16, found " + std::to_string(s.value_dim));
  require(ring >= 1 && ring <= kMaxRing, "ring must be 1 to 64, found " + std::to_string(ring));
}

}  // namespace

Cache::Cache(const Shape& shape, int ring) : shape(shape), ring(ring) {
  validate(shape, ring);
  checkpoint.resize(shape.state_size());
  d.resize(shape.value_size() * ring);
  k.resize(shape.key_size() * ring);
  g.resize(shape.gate_size() * ring);
  cursor.resize(shape.batch);
}

void advance(const Step& step, Cache& cache) {
  for (int slot = 0; slot < cache.shape.batch; ++slot) {
    cache.cursor[slot] = flushes(step, cache, slot) ? 0 : cache.cursor[slot] + 1;
  }
}

}  // namespace kernels::kda_decode
