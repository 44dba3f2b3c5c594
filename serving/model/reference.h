// The oracle: the same models in fp64, a whole sequence at a time, without caches, absorption or
// chunks. It shares the reading of files with the real model and no arithmetic.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "serving/model/config.h"
#include "serving/model/model.h"
#include "serving/model/weights.h"

namespace serving::model {

using Vector = std::vector<double>;
using Sequence = std::vector<Vector>;  // a vector for each position

class Reference {
 public:
  static Result<Reference> make(const gguf::File& file);  // `file` must outlive it

  // Logits after each of tokens `from`, `from` + 1, ... of a sequence from position 0.
  Sequence logits(std::span<const Token> tokens, std::size_t from = 0) const;

 private:
  Reference(Config config, Weights weights);

  const Vector& values(Weight weight) const { return values_.at(weight); }
  // `block`: of a weight that holds several matrices.
  Vector multiply(Weight matrix, std::span<const double> x, int block = 0) const;
  Vector norm(Weight weight, std::span<const double> x) const;
  void add_bias(Weight bias, Vector& x) const;
  void rotate(std::span<double> head, int position) const;

  Sequence mixer(const LayerWeights& layer, int kv_heads, const Sequence& x) const;
  Sequence attention(const AttentionWeights& w, int kv_heads, const Sequence& x) const;
  Sequence mla(const MlaWeights& w, const Sequence& x) const;
  Sequence kda(const KdaWeights& w, const Sequence& x) const;
  Sequence convolved(Weight projection, Weight conv, const Sequence& x) const;
  Vector feed_forward(const LayerWeights& layer, const Vector& x) const;
  Vector dense(Weight gate, Weight up, Weight down, const Vector& x, int block = 0) const;
  Vector experts(const ExpertWeights& w, const Vector& x) const;

  Config config_;
  Weights weights_;
  std::map<Weight, Vector> values_;
};

}  // namespace serving::model
