// Runs a decoder beside the oracle over fresh inputs and says whether, where and how it drifts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/kda_decode/inputs.h"
#include "kernels/kda_decode/variants.h"

namespace kernels::kda_decode {

// One implementation with its state: a CPU variant, a device kernel, or a test's broken one.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual void step(const Step& step, std::span<float> o) = 0;
  virtual std::vector<double> state() = 0;  // [batch, value_heads, K, V], records included
};
using MakeDecoder = std::function<std::unique_ptr<Decoder>(const Shape&, const Gate&, int ring,
                                                           const Floats& initial_state)>;
MakeDecoder cpu_decoder(int number, int v_tile);  // of variant `number`

struct Case {
  std::string name;
  Shape shape;
  int ring = 1;
  GateForm form = GateForm::softplus;
  Regime regime = Regime::ordinary;
  int steps = 0;
  float flush_probability = 0;
  bool flush_last = false;  // the final state is then the checkpoint alone
};
std::vector<Case> cases(int ring, std::uint64_t seed);

struct Mismatch {
  std::string where;  // "o" or "state"
  std::string case_name;
  int step, slot, head;
  std::optional<int> row;  // of the state: the index into K
  int column;              // index into V
  double got, want;        // may be NaN
};

struct CaseResult {
  Case setup;
  std::vector<double> rms;  // of o, per step
  double max = 0;
  double state_rms = 0;
  std::optional<Mismatch> first_mismatch;
};
CaseResult run_case(const Case& setup, const MakeDecoder& make, std::uint64_t seed);

std::vector<CaseResult> run_check(const MakeDecoder& make, int ring, std::uint64_t seed);
bool passed(const std::vector<CaseResult>& results);

}  // namespace kernels::kda_decode
