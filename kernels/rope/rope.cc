#include "kernels/rope/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kernels::rope {
namespace {

double frequency_of(double base, int pair, int dims) { return std::pow(base, -2.0 * pair / dims); }

// The (fractional) pair that turns `turns` times in `context` positions.
double pair_turning(double turns, double base, int context, int dims) {
  return dims * std::log(context / (turns * 2 * std::numbers::pi)) / (2 * std::log(base));
}

}  // namespace

void frequencies(float base, float scale, const float* factors, int dims, double* frequency) {
  for (int i = 0; i < dims / 2; ++i) {
    const double factor = factors ? factors[i] : 1.0;
    frequency[i] = scale * frequency_of(base, i, dims) / factor;
  }
}

float yarn_frequencies(float base, float factor, int original_context, int dims,
                       double* frequency) {
  const double low = std::max(0.0, std::floor(pair_turning(32, base, original_context, dims)));
  const double high =
      std::min(dims - 1.0, std::ceil(pair_turning(1, base, original_context, dims)));
  for (int i = 0; i < dims / 2; ++i) {
    const double interpolated = std::clamp((i - low) / std::max(0.001, high - low), 0.0, 1.0);
    const double own = frequency_of(base, i, dims);
    frequency[i] = own / factor * interpolated + own * (1 - interpolated);
  }
  return float(1 + 0.1 * std::log(double(factor)));
}

void angles(const double* frequency, float magnitude, const std::int32_t* positions, int dims,
            Range tokens, float* out) {
  const int pairs = dims / 2;
  for (int t = tokens.begin; t < tokens.end; ++t) {
    float* cosine = out + std::size_t(t) * dims;
    for (int i = 0; i < pairs; ++i) {
      const double angle = positions[t] * frequency[i];
      cosine[i] = float(magnitude * std::cos(angle));
      cosine[pairs + i] = float(magnitude * std::sin(angle));
    }
  }
}

void rotate(const Shape& shape, Pairing pairing, const float* angles, Range tokens, float* x) {
  const int pairs = shape.dims / 2;
  const int step = pairing == Pairing::adjacent ? 2 : 1;
  const int apart = pairing == Pairing::adjacent ? 1 : pairs;
  for (int t = tokens.begin; t < tokens.end; ++t) {
    const float* cosine = angles + std::size_t(t) * shape.dims;
    const float* sine = cosine + pairs;
    for (int h = 0; h < shape.heads; ++h) {
      float* head = x + (std::size_t(t) * shape.heads + h) * shape.head_dim + shape.first;
      for (int i = 0; i < pairs; ++i) {
        float& a = head[i * step];
        float& b = head[i * step + apart];
        const float turned = a * cosine[i] - b * sine[i];
        b = a * sine[i] + b * cosine[i];
        a = turned;
      }
    }
  }
}

}  // namespace kernels::rope
