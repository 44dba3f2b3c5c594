// The key-value pairs of a GGUF file, asked for by what the caller needs. A value of another kind
// is an error that names the key, what was expected and what was found.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "serving/core/result.h"
#include "serving/gguf/value.h"

namespace serving::gguf {

class Metadata {
 public:
  // False: the key was there before.
  bool insert(std::string key, Value value);
  const Value* find(const std::string& key) const;
  bool has(const std::string& key) const { return find(key) != nullptr; }
  const std::map<std::string, Value>& entries() const { return entries_; }

  // Missing keys are errors (not_found) without a fallback.
  Result<std::int64_t> integer(const std::string& key,
                               std::optional<std::int64_t> fallback = std::nullopt) const;
  Result<double> number(const std::string& key,
                        std::optional<double> fallback = std::nullopt) const;
  Result<bool> flag(const std::string& key, bool fallback) const;
  Result<std::string> text(const std::string& key,
                           std::optional<std::string> fallback = std::nullopt) const;
  Result<std::vector<std::int64_t>> integers(const std::string& key) const;
  Result<std::vector<float>> floats(const std::string& key) const;
  // The vector stays the file's: vocabularies are large.
  Result<const std::vector<std::string>*> texts(const std::string& key) const;

 private:
  std::map<std::string, Value> entries_;
};

}  // namespace serving::gguf
