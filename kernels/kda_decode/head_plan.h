// Everything of one head and token that does not depend on V: normalised q and k, the gate, and the
// weights with which S0 and the waiting records enter. ReplaySSM, from the formulas in shape.h,
// with a = exp(g_now) folded in (the chain starts at g_now instead of 0, which saves K exps):
//   keep = exp(g_now + sum g);  record_j = exp(g_now + sum over i > j of g_i) . k_j
//   S^T (a k) = S0^T (keep . k) + sum_j (record_j . k) d_j, and the same with q.
#pragma once

#include <cmath>

#include "kernels/kda_decode/simd.h"

namespace kernels::kda_decode {

struct HeadPlan {
  int records;                          // waiting before this token
  float key_query;                      // k . q
  float key_dot[kMaxRing];              // record_j . k
  float query_dot[kMaxRing];            // record_j . q
  alignas(64) float key[kMaxKeyDim];    // normalised
  alignas(64) float query[kMaxKeyDim];  // normalised, scaled by K^-1/2
  alignas(64) float g_now[kMaxKeyDim];
  alignas(64) float keep[kMaxKeyDim];
  alignas(64) float keep_key[kMaxKeyDim];           // keep . key
  alignas(64) float keep_query[kMaxKeyDim];         // keep . query
  alignas(64) float record[kMaxRing * kMaxKeyDim];  // [records, K]
};

// The decay chain, newest record first: the sum of g grows by one record a turn. L x K exps a call,
// which is what makes a replay costly.
template <class Count>
void weigh_records(const float* k_records, const float* g_records, int key_dim, HeadPlan& plan,
                   Count count) {
  alignas(64) float chain[kMaxKeyDim];
  for (int i = 0; i < key_dim; i += kLanes) {
    hn::StoreU(hn::LoadU(kF, plan.g_now + i), kF, chain + i);
  }
  for (int j = plan.records - 1; j >= 0; --j) {
    const float* k_j = k_records + std::size_t(j) * key_dim;
    const float* g_j = g_records + std::size_t(j) * key_dim;
    float* record_j = plan.record + std::size_t(j) * key_dim;
    Vector key_dot = hn::Zero(kF);
    Vector query_dot = hn::Zero(kF);
    for (int i = 0; i < key_dim; i += kLanes) {
      count.exps(kLanes);
      count.floats(2 * kLanes);
      const Vector sum = hn::LoadU(kF, chain + i);
      const Vector record = hn::Mul(hn::Exp(kF, sum), hn::LoadU(kF, k_j + i));
      key_dot = hn::MulAdd(record, hn::LoadU(kF, plan.key + i), key_dot);
      query_dot = hn::MulAdd(record, hn::LoadU(kF, plan.query + i), query_dot);
      hn::StoreU(record, kF, record_j + i);
      hn::StoreU(hn::Add(sum, hn::LoadU(kF, g_j + i)), kF, chain + i);
    }
    plan.key_dot[j] = hn::GetLane(hn::SumOfLanes(kF, key_dot));
    plan.query_dot[j] = hn::GetLane(hn::SumOfLanes(kF, query_dot));
  }
  Vector key_query = hn::Zero(kF);
  for (int i = 0; i < key_dim; i += kLanes) {
    count.exps(kLanes);
    const Vector keep = hn::Exp(kF, hn::LoadU(kF, chain + i));
    const Vector key = hn::LoadU(kF, plan.key + i);
    const Vector query = hn::LoadU(kF, plan.query + i);
    hn::StoreU(keep, kF, plan.keep + i);
    hn::StoreU(hn::Mul(keep, key), kF, plan.keep_key + i);
    hn::StoreU(hn::Mul(keep, query), kF, plan.keep_query + i);
    key_query = hn::MulAdd(key, query, key_query);
  }
  plan.key_query = hn::GetLane(hn::SumOfLanes(kF, key_query));
}

// Not inlined: a program that repeats it must really repeat it.
template <Norm kNorm, class Count>
HWY_NOINLINE void make_plan(const Step& step, const Gate& gate, Cache& cache, int slot, int head,
                            HeadPlan& plan, Count count) {
  const Shape& s = cache.shape;
  const int key_head = s.key_head(head);
  const std::size_t key_at = (std::size_t(slot) * s.heads + key_head) * s.key_dim;
  plan.records = cache.cursor[slot];
  normalise<kNorm>(step.q + key_at, s.key_dim, 1.0f / std::sqrt(float(s.key_dim)), plan.query,
                   count);
  normalise<kNorm>(step.k + key_at, s.key_dim, 1.0f, plan.key, count);
  evaluate_gate(gate, head, step.x + cache.index(slot, head) * s.key_dim, s.key_dim, plan.g_now,
                count);
  weigh_records(cache.k_records(slot, key_head), cache.g_records(slot, head), s.key_dim, plan,
                count);
}

// Appends (k, g) of this token; k once per key head, by the first value head that reads it.
template <class Count>
void append_key_and_gate(Cache& cache, int slot, int head, const HeadPlan& plan, Count count) {
  const Shape& s = cache.shape;
  const std::size_t at = std::size_t(plan.records) * s.key_dim;
  const int key_head = s.key_head(head);
  float* g = cache.g_records(slot, head) + at;
  float* k = cache.k_records(slot, key_head) + at;
  const bool first = head == 0 || s.key_head(head - 1) != key_head;
  for (int i = 0; i < s.key_dim; i += kLanes) {
    count.floats(first ? 2 * kLanes : kLanes);
    hn::StoreU(hn::LoadU(kF, plan.g_now + i), kF, g + i);
    if (first) hn::StoreU(hn::LoadU(kF, plan.key + i), kF, k + i);
  }
}

}  // namespace kernels::kda_decode
