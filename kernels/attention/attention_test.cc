#include "kernels/attention/attention.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "kernels/cache/test_pages.h"
#include "kernels/mla/mla.h"

namespace kernels::attention {
namespace {

// One key that is far above the others takes all the weight; equal keys share it.
TEST_CASE("attention by hand") {
  Random random(1);
  const Shape shape{1, 1, 1, 2, 1};
  cache::TestPages keys(random, DType::f32, cache::Order::columns, 16, 1, 1, 3);
  cache::TestPages values(random, DType::f32, cache::Order::rows, 16, 1, 2, 3);
  values.table = keys.table;
  const float k[] = {0, 0, 200};
  const float v[] = {1, 2, 3, 4, 5, 6};
  write(keys.pages, keys.table.data(), 0, {0, 3}, {0, 1}, k);
  write(values.pages, keys.table.data(), 0, {0, 3}, {0, 1}, v);
  const float q[] = {1, 1, 1};
  float out[6];
  Floats scratch(scratch_floats(shape));
  attend(shape, keys.pages, values.pages, keys.table.data(), 0, {0, 3}, {0, 1}, q, out,
         scratch.data());
  CHECK(std::vector<float>(out, out + 6) == std::vector<float>{1, 2, 2, 3, 5, 6});
}

// Scores as large as fp32 holds must neither overflow nor give a NaN.
TEST_CASE("attention with huge scores") {
  Random random(2);
  const mla::Shape shape{1, 16, 0, 1};
  cache::TestPages latents(random, DType::f32, cache::Order::rows, 16, 1, 16, 20);
  Floats c(20 * 16);
  for (int p = 0; p < 20; ++p) c[p * 16] = float(p) * 1e30f;
  write(latents.pages, latents.table.data(), 0, {0, 20}, {0, 1}, c.data());
  Floats q(16);
  q[0] = -1;
  Floats out(16);
  Floats scratch(mla::scratch_floats(shape));
  mla::attend(shape, latents.pages, latents.table.data(), 19, {0, 1}, {0, 1}, q.data(), out.data(),
              scratch.data());
  CHECK(out[0] == 0);
}

}  // namespace
}  // namespace kernels::attention
