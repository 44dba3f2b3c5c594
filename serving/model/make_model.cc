#include "serving/model/make_model.h"

#include <cmath>
#include <string_view>

namespace serving::model {
namespace {

// SplitMix64 (Steele et al. 2014): any seed starts a good stream, so that each row has its own.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  float uniform() { return float(next() >> 40) * 0x1p-24f; }  // [0, 1)
  // Mean 0 and the given deviation. Uniform: quick, and the same on every machine.
  float spread(float deviation) { return (2 * uniform() - 1) * std::sqrt(3.0f) * deviation; }

 private:
  std::uint64_t state_;
};

std::uint64_t hash_of(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

// How far ahead a KDA state decays: rates and steps as Mamba starts them, so that some channels
// forget within tokens and others within thousands.
float decay_rate(Random& random) { return -(1 + 15 * random.uniform()); }
float decay_bias(Random& random) {
  const float step = std::exp(std::log(0.001f) + random.uniform() * std::log(100.0f));
  return std::log(std::expm1(step));  // softplus's inverse
}

}  // namespace

void random_row(std::uint64_t seed, const gguf::PlannedTensor& tensor, std::uint64_t row,
                std::span<float> values) {
  Random start(seed ^ hash_of(tensor.name));
  Random random(start.next() + row * 0xd1342543de82ef95u);
  const std::string_view name = tensor.name;
  const float fan_in = 1 / std::sqrt(float(values.size()));
  for (float& value : values) {
    if (name.ends_with("norm.weight")) {
      value = 1 + random.spread(0.1f);
    } else if (name.ends_with("ssm_a")) {
      value = decay_rate(random);
    } else if (name == "rope_freqs.weight") {
      value = 1 + 7 * random.uniform();
    } else if (name.ends_with("ssm_dt.bias")) {
      value = decay_bias(random);
    } else if (name.ends_with(".bias")) {
      value = random.spread(0.1f);
    } else if (name == "token_embd.weight") {
      value = random.spread(1);
    } else if (name == "output.weight") {
      value = random.spread(3 * fan_in);  // sharp enough that greedy tokens are seldom ties
    } else {
      value = random.spread(fan_in);
    }
  }
}

namespace {

gguf::RowSource rows_of(std::uint64_t seed) {
  return [seed](const gguf::PlannedTensor& tensor, std::uint64_t row, std::span<float> values) {
    random_row(seed, tensor, row, values);
  };
}

}  // namespace

Status make_model(const ModelSpec& spec, std::ostream& out) {
  auto plan = plan_model(spec);
  if (!plan) return tl::unexpected(plan.error());
  return gguf::write(out, *plan, rows_of(spec.seed));
}

Status make_model(const ModelSpec& spec, const std::string& path) {
  auto plan = plan_model(spec);
  if (!plan) return tl::unexpected(plan.error());
  return gguf::write_file(path, *plan, rows_of(spec.seed));
}

}  // namespace serving::model
