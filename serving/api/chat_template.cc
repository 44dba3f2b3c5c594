#include "serving/api/chat_template.h"

#include <array>
#include <optional>
#include <utility>

namespace serving {
namespace {

struct Format {
  ChatFormat format;
  std::string_view name;
  std::string_view mark;      // in a Jinja template, tells it from those below
  std::string_view turn_end;  // of the assistant
};

// In the order in which marks are looked for: "[INST]" alone is mistral, with "<<SYS>>" llama-2.
constexpr std::array<Format, 7> kFormats = {{
    {ChatFormat::chatml, "chatml", "<|im_start|>", "<|im_end|>"},
    {ChatFormat::llama3, "llama-3", "<|start_header_id|>", "<|eot_id|>"},
    {ChatFormat::gemma, "gemma", "<start_of_turn>", "<end_of_turn>"},
    {ChatFormat::zephyr, "zephyr", "<|user|>", "</s>"},
    {ChatFormat::llama2, "llama-2", "<<SYS>>", "</s>"},
    {ChatFormat::mistral, "mistral", "[INST]", "</s>"},
    {ChatFormat::plain, "plain", "", ""},
}};

const Format& entry(ChatFormat format) {
  for (const Format& known : kFormats) {
    if (known.format == format) return known;
  }
  return kFormats.back();
}

std::string names() {
  std::string list;
  for (const Format& known : kFormats) list += (list.empty() ? "" : ", ") + std::string(known.name);
  return list;
}

class Pieces {
 public:
  Pieces& mark(std::string_view text) {
    pieces_.push_back({std::string(text), true});
    return *this;
  }
  Pieces& text(std::string_view text) {
    if (pieces_.empty() || pieces_.back().mark) pieces_.emplace_back();
    pieces_.back().text += text;
    return *this;
  }
  std::vector<ChatPiece> take() { return std::move(pieces_); }

 private:
  std::vector<ChatPiece> pieces_;
};

// llama-2, mistral and gemma have no system turn: it opens the first turn of the user.
struct Folded {
  std::string system;
  std::vector<Message> turns;
};
Folded fold_system(const std::vector<Message>& messages) {
  Folded folded;
  for (const Message& message : messages) {
    if (message.role == "system") {
      folded.system += (folded.system.empty() ? "" : "\n") + message.content;
    } else {
      folded.turns.push_back(message);
    }
  }
  return folded;
}

void render_chatml(Pieces& out, const std::vector<Message>& messages) {
  for (const Message& message : messages) {
    out.mark("<|im_start|>").text(message.role + "\n" + message.content);
    out.mark("<|im_end|>").text("\n");
  }
  out.mark("<|im_start|>").text("assistant\n");
}

void render_llama3(Pieces& out, const std::vector<Message>& messages) {
  const auto header = [&](const std::string& role) -> Pieces& {
    return out.mark("<|start_header_id|>").text(role).mark("<|end_header_id|>").text("\n\n");
  };
  for (const Message& message : messages) {
    header(message.role).text(message.content).mark("<|eot_id|>");
  }
  header("assistant");
}

void render_zephyr(Pieces& out, const std::vector<Message>& messages) {
  for (const Message& message : messages) {
    out.mark("<|" + message.role + "|>").text("\n" + message.content).mark("</s>").text("\n");
  }
  out.mark("<|assistant|>").text("\n");
}

void render_gemma(Pieces& out, const std::vector<Message>& messages) {
  Folded folded = fold_system(messages);
  std::string opening = folded.system.empty() ? "" : folded.system + "\n\n";
  for (const Message& turn : folded.turns) {
    const bool user = turn.role == "user";
    out.mark("<start_of_turn>").text(user ? "user\n" : "model\n");
    out.text((user ? std::exchange(opening, "") : "") + turn.content);
    out.mark("<end_of_turn>").text("\n");
  }
  out.mark("<start_of_turn>").text("model\n");
}

// The first sequence's bos is the tokenizer's; llama-2 begins each later exchange with one too.
void render_inst(Pieces& out, const std::vector<Message>& messages, bool llama2) {
  Folded folded = fold_system(messages);
  std::string opening;
  if (!folded.system.empty()) {
    opening = llama2 ? "<<SYS>>\n" + folded.system + "\n<</SYS>>\n\n" : folded.system + "\n\n";
  }
  bool answered = false;
  for (const Message& turn : folded.turns) {
    if (turn.role == "user") {
      if (answered && llama2) out.mark("<s>");
      out.mark("[INST]").text(" " + std::exchange(opening, "") + turn.content + " ");
      out.mark("[/INST]");
    } else {
      out.text(" " + turn.content + (llama2 ? " " : "")).mark("</s>");
      answered = true;
    }
  }
}

void render_plain(Pieces& out, const std::vector<Message>& messages) {
  for (const Message& message : messages) out.text(message.role + ": " + message.content + "\n");
  out.text("assistant:");
}

// The token whose text this is, where the vocabulary has it as a control token.
std::optional<Token> control_token(const Tokenizer& tokenizer, std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto special = tokenizer.encode(text, true, false);
  if (special.size() != 1 || special == tokenizer.encode(text, false, false)) return std::nullopt;
  return special[0];
}

}  // namespace

Result<ChatFormat> chat_format_of_name(std::string_view name) {
  for (const Format& known : kFormats) {
    if (known.name == name) return known.format;
  }
  return fail(ErrorCode::bad_input,
              "no chat template is called \"" + std::string(name) + "\"; known are " + names());
}

std::string_view name_of(ChatFormat format) { return entry(format).name; }

Result<ChatFormat> recognise_chat_format(std::string_view jinja) {
  if (jinja.empty()) return ChatFormat::plain;
  const auto has = [&](std::string_view mark) {
    return !mark.empty() && jinja.find(mark) != std::string_view::npos;
  };
  for (const Format& known : kFormats) {
    if (has("<|end|>")) break;  // Phi's; its other marks are zephyr's
    if (has(known.mark)) return known.format;
  }
  return fail(ErrorCode::bad_input,
              "the chat template of the model's file has no marks of a known format; start the "
              "server with --chat-template NAME, one of " +
                  names());
}

std::vector<ChatPiece> render_chat(ChatFormat format, const std::vector<Message>& messages) {
  Pieces out;
  switch (format) {
    case ChatFormat::chatml:
      render_chatml(out, messages);
      break;
    case ChatFormat::llama2:
      render_inst(out, messages, true);
      break;
    case ChatFormat::llama3:
      render_llama3(out, messages);
      break;
    case ChatFormat::mistral:
      render_inst(out, messages, false);
      break;
    case ChatFormat::zephyr:
      render_zephyr(out, messages);
      break;
    case ChatFormat::gemma:
      render_gemma(out, messages);
      break;
    case ChatFormat::plain:
      render_plain(out, messages);
      break;
  }
  return out.take();
}

std::vector<Token> chat_tokens(const Tokenizer& tokenizer, const std::vector<ChatPiece>& pieces) {
  std::vector<Token> tokens;
  if (tokenizer.adds_bos() && tokenizer.bos()) tokens.push_back(*tokenizer.bos());
  std::string text;  // of neighbouring pieces; one text is encoded as one
  const auto flush = [&] {
    if (text.empty()) return;
    const auto more = tokenizer.encode(text, false, false);
    tokens.insert(tokens.end(), more.begin(), more.end());
    text.clear();
  };
  for (const ChatPiece& piece : pieces) {
    const auto token = piece.mark ? control_token(tokenizer, piece.text) : std::nullopt;
    if (!token) {
      text += piece.text;
      continue;
    }
    flush();
    tokens.push_back(*token);
  }
  flush();
  return tokens;
}

std::vector<Token> turn_end_tokens(const Tokenizer& tokenizer, ChatFormat format) {
  const auto token = control_token(tokenizer, entry(format).turn_end);
  return token ? std::vector<Token>{*token} : std::vector<Token>{};
}

}  // namespace serving
