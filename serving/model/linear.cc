#include "serving/model/linear.h"

#include <algorithm>
#include <cassert>

#include "serving/trace/trace.h"

namespace serving::model {
namespace {

using kernels::DType;
using kernels::Range;

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::q8_0};

DType dtype(gguf::TensorType type) {
  switch (type) {
    case gguf::TensorType::f32:
      return DType::f32;
    case gguf::TensorType::f16:
      return DType::f16;
    case gguf::TensorType::bf16:
      return DType::bf16;
    case gguf::TensorType::q8_0:
      return DType::q8_0;
  }
  return DType::f32;
}

// Below this many multiplications a task costs more than it saves.
constexpr std::int64_t kLeastTask = 1 << 15;

// Panels of one product that a task takes, for about four tasks a thread.
int panels_a_task(const Product& product, int threads) {
  const int panels = kernels::matmul::panels_of(product.w->rows());
  const std::int64_t panel_work =
      std::int64_t(16) * product.w->cols() * std::max(1, product.rows.size());
  const int for_balance = (panels + 4 * threads - 1) / (4 * threads);
  return std::max<int>(for_balance, int((kLeastTask + panel_work - 1) / panel_work));
}

int tasks_of(const Product& product, int threads) {
  if (product.rows.size() <= 0) return 0;
  const int panels = kernels::matmul::panels_of(product.w->rows());
  const int step = panels_a_task(product, threads);
  return (panels + step - 1) / step;
}

}  // namespace

kernels::MatrixView matrix_view(Weight weight, int block) {
  kernels::MatrixView view;
  view.type = dtype(weight->type);
  view.rows = int(weight->dims[1]);
  view.cols = int(weight->dims[0]);
  view.data = weight->bytes.data() +
              std::size_t(block) * view.rows * gguf::row_bytes(weight->type, view.cols);
  return view;
}

Linear::Linear(Weight weight, ThreadPool& pool, int block) {
  const kernels::MatrixView view = matrix_view(weight, block);
  memory_ =
      AlignedBuffer<std::byte>(kernels::matmul::packed_bytes(view.type, view.rows, view.cols));
  const int panels = kernels::matmul::panels_of(view.rows);
  const int tasks = std::min(panels, 4 * pool.threads());
  pool.run(tasks, [&](int task, int) {
    kernels::matmul::pack(view, share_of(panels, task, tasks), memory_.data());
  });
  packed_ = {view.type, view.rows, view.cols, memory_.data()};
}

std::vector<Linear> linears(Weight weight, ThreadPool& pool) {
  std::vector<Linear> all;
  for (int block = 0; block < int(weight->dims[2]); ++block) all.emplace_back(weight, pool, block);
  return all;
}

Multiplier::Multiplier(ThreadPool& pool, kernels::matmul::Isa isa, int most_rows, int most_cols)
    : pool_(pool), isa_(isa) {
  std::size_t bytes = 0;
  for (DType type : kTypes) {
    // Of q8_0 there are no other columns than multiples of a block.
    const int cols = (most_cols + kernels::kBlock - 1) / kernels::kBlock * kernels::kBlock;
    bytes = std::max(bytes, kernels::matmul::input_bytes(isa, type, cols));
  }
  input_ = AlignedBuffer<std::byte>(bytes * most_rows);
}

void Multiplier::run(const float* x, int rows, const Linear& w, float* y) {
  const Product product{&w, {0, rows}, y};
  run(x, rows, std::span(&product, 1));
}

void Multiplier::run(const float* x, int rows, std::span<const Product> products) {
  for (DType type : kTypes) {
    const auto is_type = [&](const Product& p) { return p.w->packed().type == type; };
    if (std::none_of(products.begin(), products.end(), is_type)) continue;
    quantize(type, products.front().w->cols(), x, rows);
    multiply(type, x, products);
  }
}

void Multiplier::quantize(DType type, int cols, const float* x, int rows) {
  const std::size_t bytes = kernels::matmul::input_bytes(isa_, type, cols) * rows;
  if (bytes == 0) return;
  assert(bytes <= input_.size());
  const int tasks = rows < 8 ? 1 : std::min(rows / 4, 4 * pool_.threads());
  pool_.run(tasks, [&](int task, int) {
    kernels::matmul::quantize_input(isa_, type, cols, x, share_of(rows, task, tasks),
                                    input_.data());
  });
}

// The tasks of all products form one list, so that small matrices run beside each other.
void Multiplier::multiply(DType type, const float* x, std::span<const Product> products) {
  const int threads = pool_.threads();
  const auto tasks = [&](const Product& p) {
    return p.w->packed().type == type ? tasks_of(p, threads) : 0;
  };
  int count = 0;
  for (const Product& product : products) count += tasks(product);
  pool_.run(count, [&](int task, int) {
    const Product* product = products.data();
    for (int n; task >= (n = tasks(*product)); task -= n) ++product;
    const int step = 16 * panels_a_task(*product, threads);
    const Range outputs{task * step, std::min((task + 1) * step, product->w->rows())};
    const TraceSpan span("model.product", {"rows", product->rows.size()},
                         {"inputs", product->w->cols()}, {"outputs", outputs.size()});
    kernels::matmul::multiply(isa_, product->w->packed(), x, input_.data(), product->rows, outputs,
                              product->y);
  });
}

}  // namespace serving::model
