// Weight matrices in the kernels' layout, and products of several of them with the same input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/matmul/matmul.h"
#include "serving/core/aligned_buffer.h"
#include "serving/core/thread_pool.h"
#include "serving/model/weights.h"

namespace serving::model {

// The `task`-th of `tasks` nearly equal parts of [0, count).
inline kernels::Range share_of(int count, int task, int tasks) {
  return {int(std::int64_t(count) * task / tasks), int(std::int64_t(count) * (task + 1) / tasks)};
}

// y = W x. Packed once; what the file holds is not needed any more.
class Linear {
 public:
  Linear() = default;
  // `block`: of a weight that holds several matrices.
  Linear(Weight weight, ThreadPool& pool, int block = 0);

  int rows() const { return packed_.rows; }  // outputs
  int cols() const { return packed_.cols; }  // inputs
  const kernels::matmul::PackedMatrix& packed() const { return packed_; }

 private:
  AlignedBuffer<std::byte> memory_;
  kernels::matmul::PackedMatrix packed_;
};

std::vector<Linear> linears(Weight weight, ThreadPool& pool);  // one a block

// The file's matrix `block` of `weight`, not packed.
kernels::MatrixView matrix_view(Weight weight, int block = 0);

// W times rows `rows` of the input, into the same rows of y [.., W.rows()].
struct Product {
  const Linear* w = nullptr;
  kernels::Range rows;
  float* y = nullptr;
};

class Multiplier {
 public:
  // No input has more than `most_rows` rows of `most_cols` values.
  Multiplier(ThreadPool& pool, kernels::matmul::Isa isa, int most_rows, int most_cols);

  // x [rows, cols], the cols of every product's matrix. Tasks are cut along the outputs.
  void run(const float* x, int rows, std::span<const Product> products);
  void run(const float* x, int rows, const Linear& w, float* y);

 private:
  void quantize(kernels::DType type, int cols, const float* x, int rows);
  void multiply(kernels::DType type, const float* x, std::span<const Product> products);

  ThreadPool& pool_;
  kernels::matmul::Isa isa_;
  AlignedBuffer<std::byte> input_;
};

}  // namespace serving::model
