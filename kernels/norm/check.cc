#include <cmath>

#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"
#include "kernels/norm/norm.h"

namespace kernels::norm {
namespace {

std::vector<double> oracle(const Floats& x, const float* weight, double epsilon, double scale,
                           bool mean, int dim) {
  std::vector<double> y(x.size());
  for (std::size_t row = 0; row < x.size(); row += dim) {
    double squares = 0;
    for (int i = 0; i < dim; ++i) squares += double(x[row + i]) * x[row + i];
    const double root = std::sqrt((mean ? squares / dim : squares) + epsilon);
    for (int i = 0; i < dim; ++i) y[row + i] = x[row + i] / root * (weight ? weight[i] : scale);
  }
  return y;
}

void check(Check& check) {
  for (int dim : {1, 7, 16, 64, 100, 2048, check.random.between(1, 500)}) {
    const int rows = check.random.between(1, 9);
    const std::string where = std::to_string(rows) + "x" + std::to_string(dim);
    const Floats x = normals(check.random, std::size_t(rows) * dim, 3);
    const Floats weight = normals(check.random, dim);
    Floats y = poison(x.size());
    rms_norm(x.data(), weight.data(), 1e-5f, dim, {0, rows}, y.data());
    check.near("rms_norm " + where, y, oracle(x, weight.data(), 1e-5, 1, true, dim));

    Floats in_place = x;  // and row by row, from the last
    for (int r = rows; r-- > 0;) {
      rms_norm(in_place.data(), weight.data(), 1e-5f, dim, {r, r + 1}, in_place.data());
    }
    check.same("rms_norm cut " + where, in_place, y);

    y = poison(x.size());
    rms_norm(x.data(), nullptr, 1e-5f, dim, {0, rows}, y.data());
    check.near("rms_norm without weight " + where, y, oracle(x, nullptr, 1e-5, 1, true, dim));
    y = poison(x.size());
    l2_norm(x.data(), 1e-6f, 0.25f, dim, {0, rows}, y.data());
    check.near("l2_norm " + where, y, oracle(x, nullptr, 1e-6, 0.25, false, dim));
  }
}

void bench(const LabOptions& options) {
  constexpr int kDim = 2048;
  const int rows = options.batch;
  Random random(options.seed);
  const Floats x = normals(random, std::size_t(rows) * kDim);
  const Floats weight = normals(random, kDim);
  const double elements = double(rows) * kDim;
  register_timed("norm", {4 * elements, 8 * elements + 4.0 * kDim},
                 [=, y = Floats(x.size())]() mutable {
                   rms_norm(x.data(), weight.data(), 1e-5f, kDim, {0, rows}, y.data());
                 });
}

}  // namespace
}  // namespace kernels::norm

const kernels::EngineOp kernels::kNorm = {"norm", norm::check, norm::bench};
