// One forward pass: which rows of the activations belong to which sequence, and how the work of a
// layer is cut into tasks.
#pragma once

#include <algorithm>
#include <span>

#include "kernels/tensor.h"
#include "serving/core/thread_pool.h"
#include "serving/model/linear.h"
#include "serving/model/model.h"

namespace serving::model {

// The rows of one chunk.
struct Piece {
  int row = 0;       // of its first token in the activations
  int tokens = 0;    // at least one
  int position = 0;  // of its first token in the sequence
  const PageId* pages = nullptr;
  SlotId slot = -1;
};

inline constexpr int kAllTokens = 1 << 30;  // a tile that takes every token of a piece

struct Pass {
  ThreadPool& pool;
  Multiplier& multiplier;
  int layer = 0;  // which one is computed
  int rows = 0;   // tokens of all pieces
  std::span<const Piece> pieces;
  const float* angles = nullptr;  // [rows, 2, rope.dims / 2]; null without rotary positions

  // f(Range of rows), for work of each row alone.
  template <class F>
  void for_rows(const F& f) const {
    const int tasks = rows < 8 ? 1 : std::min(rows / 4, 2 * pool.threads());
    pool.run(tasks, [&](int task, int) { f(share_of(rows, task, tasks)); });
  }

  // f(piece, Range of its tokens, group, worker) for every group and every tile of tokens.
  template <class F>
  void for_tiles(int tile, int groups, const F& f) const {
    const auto tasks = [&](const Piece& p) { return (p.tokens + tile - 1) / tile * groups; };
    int count = 0;
    for (const Piece& piece : pieces) count += tasks(piece);
    pool.run(count, [&](int task, int worker) {
      const Piece* piece = pieces.data();
      for (int n; task >= (n = tasks(*piece)); task -= n) ++piece;
      const int first = task / groups * tile;
      f(*piece, kernels::Range{first, std::min(first + tile, piece->tokens)}, task % groups,
        worker);
    });
  }
};

}  // namespace serving::model
