#include "kernels/lab/check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

namespace kernels {
namespace {

// JSON knows no NaN and no infinity.
std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string metric_line(const std::string& name, double value) {
  return "{\"metric\":\"" + name + "\",\"value\":" + number(value) +
         ",\"unit\":\"1\",\"conditions\":{}}\n";
}

}  // namespace

void Check::fail(const std::string& where, std::size_t at, double got, double want) {
  ++failed_;
  if (!first_mismatch_.empty()) return;
  first_mismatch_ = "{\"in\":\"" + where + "\",\"index\":" + std::to_string(at) +
                    ",\"got\":" + number(got) + ",\"want\":" + number(want) + "}";
}

void Check::near(const std::string& where, std::span<const float> got, std::span<const double> want,
                 Tolerance tolerance) {
  ++cases_;
  const kda_decode::Difference d = kda_decode::compare(got, want);
  rms_ = kda_decode::worse(d.rms, rms_);
  max_ = kda_decode::worse(d.max, max_);
  if (d.rms <= tolerance.rms && d.max <= tolerance.max) return;
  const bool comparable = got.size() == want.size() && !want.empty();
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  fail(where, d.worst, comparable ? double(got[d.worst]) : nothing,
       comparable ? want[d.worst] : nothing);
}

void Check::same(const std::string& where, std::span<const float> got,
                 std::span<const float> want) {
  ++cases_;
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  const auto equal = [&](float a, float b) { return bits(a) == bits(b); };
  const auto [a, b] = std::mismatch(got.begin(), got.end(), want.begin(), want.end(), equal);
  if (a == got.end() && b == want.end()) return;
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  fail(where, std::size_t(a - got.begin()), a == got.end() ? nothing : double(*a),
       b == want.end() ? nothing : double(*b));
}

void Check::holds(const std::string& where, bool condition) {
  ++cases_;
  if (!condition) fail(where, 0, 0, 1);
}

std::string Check::report() const {
  std::string out = metric_line(op_ + ".rms", rms_) + metric_line(op_ + ".max_error", max_);
  out += "{\"check\":\"" + op_ + "\",\"ok\":" + (ok() ? "true" : "false") +
         ",\"first_mismatch\":" + (ok() ? "null" : first_mismatch_) +
         ",\"detail\":{\"rms\":" + number(rms_) + ",\"max_error\":" + number(max_) +
         ",\"cases\":" + std::to_string(cases_) + ",\"failed\":" + std::to_string(failed_) +
         ",\"seed\":" + std::to_string(seed_) + "}}\n";
  return out;
}

Floats normals(Random& random, std::size_t size, float scale) {
  Floats out(size);
  for (float& x : out) x = scale * random.normal();
  return out;
}

Floats poison(std::size_t size) { return Floats(size, std::numeric_limits<float>::quiet_NaN()); }

Bytes poisoned_bytes(std::size_t size) { return Bytes(size, std::byte{0xff}); }

}  // namespace kernels
