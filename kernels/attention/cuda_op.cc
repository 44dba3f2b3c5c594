// Paged decode attention as kernel_lab_cuda sees it, compared with the CPU's, which has an oracle
// of its own.
#include <algorithm>

#include "kernels/attention/device.h"
#include "kernels/cache/test_pages.h"
#include "kernels/lab/cuda_ops.h"

namespace kernels::attention {
namespace {

// Sequences of given lengths over shared pages, each in pages of its own.
struct Batch {
  Batch(Random& random, const Shape& shape, int page_tokens, std::vector<std::int32_t> given)
      : lengths(std::move(given)) {
    page_limit = (*std::ranges::max_element(lengths) + page_tokens - 1) / page_tokens;
    const int pages = page_limit * int(lengths.size());
    tables.resize(pages);
    for (int p = 0; p < pages; ++p) tables[p] = p;
    for (int p = pages - 1; p > 0; --p) std::swap(tables[p], tables[random.between(0, p)]);
    const std::size_t rows = std::size_t(pages) * shape.kv_heads * page_tokens;
    keys = normals(random, rows * shape.key_dim);
    values = normals(random, rows * shape.value_dim);
    q = normals(random, lengths.size() * shape.heads * shape.key_dim);
  }
  std::vector<std::int32_t> lengths, tables;
  int page_limit;
  Floats keys, values, q;
};

// What sequence `b` sees, [length, kv_heads, dim], from the device's layout.
Floats seen(const Batch& batch, const Shape& shape, int page_tokens, int b, const Floats& cache,
            int dim) {
  Floats x;
  for (int p = 0; p < batch.lengths[b]; ++p) {
    const int page = batch.tables[b * batch.page_limit + p / page_tokens];
    for (int h = 0; h < shape.kv_heads; ++h) {
      const std::size_t row =
          (std::size_t(page) * shape.kv_heads + h) * page_tokens + p % page_tokens;
      const auto from = cache.begin() + std::ptrdiff_t(row * dim);
      x.insert(x.end(), from, from + dim);
    }
  }
  return x;
}

// By the CPU, one sequence.
void attend_on_cpu(Random& random, const Shape& shape, int length, const Floats& k, const Floats& v,
                   const float* q, float* out) {
  cache::TestPages keys(random, DType::f32, cache::Order::columns, 16, shape.kv_heads,
                        shape.key_dim, length);
  cache::TestPages values(random, DType::f32, cache::Order::rows, 16, shape.kv_heads,
                          shape.value_dim, length);
  values.table = keys.table;
  const Range heads = {0, shape.kv_heads};
  write(keys.pages, keys.table.data(), 0, {0, length}, heads, k.data());
  write(values.pages, keys.table.data(), 0, {0, length}, heads, v.data());
  Floats scratch(scratch_floats(shape));
  attend(shape, keys.pages, values.pages, keys.table.data(), length - 1, {0, 1}, heads, q, out,
         scratch.data());
}

void run(Check& check, const Shape& shape, int page_tokens, std::vector<std::int32_t> lengths) {
  const Batch batch(check.random, shape, page_tokens, std::move(lengths));
  const int size = int(batch.lengths.size());
  DeviceDecode decode(shape, int(batch.tables.size()), page_tokens, size, batch.page_limit);
  decode.upload_cache(batch.keys.data(), batch.values.data());
  decode.upload_step(batch.tables.data(), batch.lengths.data(), batch.q.data());
  decode.launch_ms();
  const std::size_t out_size = std::size_t(shape.heads) * shape.value_dim;
  Floats got = poison(size * out_size);
  decode.download(got.data());
  for (int b = 0; b < size; ++b) {
    Floats want = poison(out_size);
    attend_on_cpu(check.random, shape, batch.lengths[b],
                  seen(batch, shape, page_tokens, b, batch.keys, shape.key_dim),
                  seen(batch, shape, page_tokens, b, batch.values, shape.value_dim),
                  &batch.q[std::size_t(b) * shape.heads * shape.key_dim], want.data());
    check.near("length " + std::to_string(batch.lengths[b]),
               std::span<const float>(got).subspan(b * out_size, out_size), doubles(want));
  }
}

void check_device(Check& check) {
  const auto length = [&] { return std::int32_t(check.random.between(1, 900)); };
  run(check, {8, 2, 128, 128, 0.09f}, 16, {1, 256, 257, length()});
  run(check, {4, 4, 64, 48, 0.125f}, 32, {length(), length()});
  run(check, {3, 1, check.random.between(1, 256), check.random.between(1, 256), 0.1f}, 16,
      {length()});
}

void bench_device(const LabOptions& options) {
  constexpr int kDepth = 4096;
  const Shape shape{32, 8, 128, 128, 0.09f};
  Random random(options.seed);
  const Batch batch(random, shape, 16, std::vector<std::int32_t>(options.batch, kDepth));
  auto decode = std::make_shared<DeviceDecode>(shape, int(batch.tables.size()), 16, options.batch,
                                               batch.page_limit);
  decode->upload_cache(batch.keys.data(), batch.values.data());
  decode->upload_step(batch.tables.data(), batch.lengths.data(), batch.q.data());
  const double seen = double(options.batch) * kDepth;
  const Work work = {seen * shape.heads * 128 * 4, seen * shape.kv_heads * 128 * 8};
  register_device_timed("attention/f32", work, [=] { return decode->launch_ms(); });
}

}  // namespace

Op cuda_op() { return lab_op({"attention", check_device, bench_device}); }

}  // namespace kernels::attention
