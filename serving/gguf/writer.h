// Writes a GGUF file of version 3, row by row: the tensors need never be in memory together.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "serving/core/result.h"
#include "serving/gguf/file.h"
#include "serving/gguf/value.h"

namespace serving::gguf {

struct PlannedTensor {
  std::string name;
  TensorType type = TensorType::f32;
  Dims dims = {1, 1, 1, 1};
  int rank = 1;  // dims written; some readers tell [n] from [n, 1]
};

struct Plan {
  std::vector<Entry> metadata;
  std::vector<PlannedTensor> tensors;
};

// Fills row `row` (dims[0] values) of a tensor. Rows are asked for in order, tensor by tensor.
using RowSource =
    std::function<void(const PlannedTensor& tensor, std::uint64_t row, std::span<float> values)>;

// Errors: io.
Status write(std::ostream& stream, const Plan& plan, const RowSource& rows);
// As above, to a file that appears under its name only once it is whole.
Status write_file(const std::string& path, const Plan& plan, const RowSource& rows);

}  // namespace serving::gguf
