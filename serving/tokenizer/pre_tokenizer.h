// Cutting a text into the words within which byte-level BPE merges. Each kind is one expression of
// a published tokenizer, matched by hand: alternatives in order, each as long as it can be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace serving::tokenizer {

enum class PreTokenizer { gpt2, llama3, qwen2, kimi_k2 };

// By the names of `tokenizer.ggml.pre`; nullopt: not known here.
std::optional<PreTokenizer> pre_tokenizer(const std::string& name);

// The words, which put together are the text.
std::vector<std::string_view> split_words(PreTokenizer kind, std::string_view text);

}  // namespace serving::tokenizer
