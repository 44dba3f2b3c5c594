// Chat as a model was trained to see it. A file's template is a Jinja program; it is not run but
// recognised by its marks as one of the common formats.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serving/api/completion_call.h"
#include "serving/core/result.h"
#include "serving/tokenizer/tokenizer.h"

namespace serving {

enum class ChatFormat { chatml, llama2, llama3, mistral, zephyr, gemma, plain };

// By name ("llama-3"), as --chat-template takes it. bad_input lists the names.
Result<ChatFormat> chat_format_of_name(std::string_view name);
std::string_view name_of(ChatFormat format);

// By the marks in a file's template; without a template: plain. bad_input: no known marks.
Result<ChatFormat> recognise_chat_format(std::string_view jinja);

// A conversation in pieces: marks, which are control tokens where the vocabulary has them, and
// text, which never becomes one. Ends where the assistant's answer begins.
struct ChatPiece {
  std::string text;
  bool mark = false;
};
std::vector<ChatPiece> render_chat(ChatFormat format, const std::vector<Message>& messages);

// The tokens of these pieces, with bos where the tokenizer's file wants it.
std::vector<Token> chat_tokens(const Tokenizer& tokenizer, const std::vector<ChatPiece>& pieces);

// Also ends an answer in this format: "<|im_end|>". Empty: the vocabulary's end tokens suffice.
std::vector<Token> turn_end_tokens(const Tokenizer& tokenizer, ChatFormat format);

}  // namespace serving
