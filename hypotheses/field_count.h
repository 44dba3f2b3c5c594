// How many fields an aggregate has, counted by the compiler: tests compare it with what describe()
// lists (json_codec.h), so that no field is forgotten.
#pragma once

namespace hypotheses {

struct AnyField {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): declared only
};

template <class T, class... Fields>
constexpr int field_count() {
  if constexpr (requires { T{Fields{}..., AnyField{}}; })
    return field_count<T, Fields..., AnyField>();
  return sizeof...(Fields);
}

// Counts what describe() lists; an interval stands for two fields.
struct FieldCounter {
  int count = 0;
  template <class T>
  void operator()(const char*, T&) {
    ++count;
  }
  template <class T>
  void if_any(const char*, T&) {
    ++count;
  }
  void interval(const char*, double&, double&) { count += 2; }
  template <class F>
  void derived(const char*, F) {}
};

}  // namespace hypotheses
