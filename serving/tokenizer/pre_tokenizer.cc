#include "serving/tokenizer/pre_tokenizer.h"

#include <array>
#include <utility>

#include "serving/tokenizer/unicode.h"

namespace serving::tokenizer {
namespace {

struct Character {
  char32_t code;
  CharClass kind;
  std::size_t begin;  // in the text
};

// Every rule gives the place after its match, or the place it was asked at where it has none.
class Matcher {
 public:
  explicit Matcher(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const Decoded next = decode_utf8(text.substr(at));
      characters_.push_back({next.code, next.valid ? char_class(next.code) : CharClass::other, at});
      at += next.size;
    }
    characters_.push_back({0, CharClass::other, text.size()});
  }

  std::size_t size() const { return characters_.size() - 1; }
  std::size_t begin(std::size_t at) const { return characters_[at].begin; }

  // 's 't 're 've 'm 'll 'd
  std::size_t contraction(std::size_t at, bool any_case) const {
    if (code(at) != '\'') return at;
    const auto letter = [&](std::size_t i) {
      const char32_t c = code(i);
      return any_case && c >= 'A' && c <= 'Z' ? c + 32 : c;
    };
    const char32_t one = letter(at + 1);
    if (one == 's' || one == 't' || one == 'm' || one == 'd') return at + 2;
    const char32_t two = one ? letter(at + 2) : 0;
    const bool pair =
        (one == 'r' && two == 'e') || (one == 'v' && two == 'e') || (one == 'l' && two == 'l');
    return pair ? at + 3 : at;
  }

  template <class Test>
  std::size_t run(std::size_t at, Test test, std::size_t most = ~std::size_t(0)) const {
    while (at < size() && most > 0 && test(characters_[at])) ++at, --most;
    return at;
  }

  std::size_t letters(std::size_t at) const {
    return run(at, [](const Character& c) { return is_letter(c.kind); });
  }
  std::size_t numbers(std::size_t at, std::size_t most = ~std::size_t(0)) const {
    return run(
        at, [](const Character& c) { return c.kind == CharClass::number; }, most);
  }
  std::size_t others(std::size_t at) const {  // [^\s\p{L}\p{N}]
    return run(at, [](const Character& c) {
      return c.kind != CharClass::space && c.kind != CharClass::number && !is_letter(c.kind);
    });
  }
  std::size_t newlines(std::size_t at) const {
    return run(at, [](const Character& c) { return c.code == '\r' || c.code == '\n'; });
  }
  std::size_t spaces(std::size_t at) const {
    return run(at, [](const Character& c) { return c.kind == CharClass::space; });
  }
  std::size_t han(std::size_t at) const {
    return run(at, [](const Character& c) { return is_han(c.code); });
  }

  // ` ?` before a rule.
  template <class Rule>
  std::size_t after_space(std::size_t at, Rule rule) const {
    const std::size_t from = code(at) == ' ' ? at + 1 : at;
    const std::size_t end = rule(from);
    return end > from ? end : at;
  }

  // [^\r\n\p{L}\p{N}]? before a rule; without it where that fails.
  template <class Rule>
  std::size_t after_one_other(std::size_t at, Rule rule) const {
    const CharClass kind = at < size() ? characters_[at].kind : CharClass::number;
    const bool other =
        code(at) != '\r' && code(at) != '\n' && !is_letter(kind) && kind != CharClass::number;
    if (other) {
      if (const std::size_t end = rule(at + 1); end > at + 1) return end;
    }
    return rule(at);
  }

  // \s*[\r\n]+
  std::size_t spaces_to_newline(std::size_t at) const {
    std::size_t end = spaces(at);
    while (end > at && code(end - 1) != '\r' && code(end - 1) != '\n') --end;
    return end;
  }
  // \s+(?!\S)|\s+: a run of spaces leaves its last one to the word that follows.
  std::size_t trailing_spaces(std::size_t at) const {
    const std::size_t end = spaces(at);
    return end == size() || end <= at + 1 ? end : end - 1;
  }

  // U*L+ and U+L*, where U is upper case or no case, L lower case or no case, both without Han;
  // then a contraction may follow.
  std::size_t ends_lower(std::size_t at) const {
    for (std::size_t from = run(at, is_upper);; --from) {  // as many of U as leave an L
      if (const std::size_t end = run(from, is_lower); end > from) return contraction(end, true);
      if (from == at) return at;
    }
  }
  std::size_t starts_upper(std::size_t at) const {
    const std::size_t uppers = run(at, is_upper);
    return uppers > at ? contraction(run(uppers, is_lower), true) : at;
  }

 private:
  static bool is_uncased(const Character& c) {
    return c.kind == CharClass::other_letter || c.kind == CharClass::mark;
  }
  static bool is_upper(const Character& c) {
    return (c.kind == CharClass::upper || is_uncased(c)) && !is_han(c.code);
  }
  static bool is_lower(const Character& c) {
    return (c.kind == CharClass::lower || is_uncased(c)) && !is_han(c.code);
  }
  char32_t code(std::size_t at) const { return at < size() ? characters_[at].code : 0; }

  std::vector<Character> characters_;  // and one more, where the text ends
};

// '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t match_gpt2(const Matcher& m, std::size_t at) {
  if (auto end = m.contraction(at, false); end > at) return end;
  if (auto end = m.after_space(at, [&](auto i) { return m.letters(i); }); end > at) return end;
  if (auto end = m.after_space(at, [&](auto i) { return m.numbers(i); }); end > at) return end;
  if (auto end = m.after_space(at, [&](auto i) { return m.others(i); }); end > at) return end;
  return m.trailing_spaces(at);
}

// \p{N}{1,d}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
std::size_t match_beside_letters(const Matcher& m, std::size_t at, std::size_t digits) {
  if (auto end = m.numbers(at, digits); end > at) return end;
  if (auto end = m.after_space(at, [&](auto i) { return m.others(i); }); end > at) {
    return m.newlines(end);
  }
  if (auto end = m.spaces_to_newline(at); end > at) return end;
  return m.trailing_spaces(at);
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|, then as above
std::size_t match_llama3(const Matcher& m, std::size_t at, std::size_t digits) {
  if (auto end = m.contraction(at, true); end > at) return end;
  if (auto end = m.after_one_other(at, [&](auto i) { return m.letters(i); }); end > at) return end;
  return match_beside_letters(m, at, digits);
}

// \p{Han}+|[^\r\n\p{L}\p{N}]?U*L+(?i:'s|...)?|[^\r\n\p{L}\p{N}]?U+L*(?i:'s|...)?|, then as above
std::size_t match_kimi(const Matcher& m, std::size_t at) {
  if (auto end = m.han(at); end > at) return end;
  if (auto end = m.after_one_other(at, [&](auto i) { return m.ends_lower(i); }); end > at) {
    return end;
  }
  if (auto end = m.after_one_other(at, [&](auto i) { return m.starts_upper(i); }); end > at) {
    return end;
  }
  return match_beside_letters(m, at, 3);
}

std::size_t match(PreTokenizer kind, const Matcher& m, std::size_t at) {
  switch (kind) {
    case PreTokenizer::gpt2:
      return match_gpt2(m, at);
    case PreTokenizer::llama3:
      return match_llama3(m, at, 3);
    case PreTokenizer::qwen2:
      return match_llama3(m, at, 1);
    case PreTokenizer::kimi_k2:
      return match_kimi(m, at);
  }
  return at;
}

}  // namespace

std::optional<PreTokenizer> pre_tokenizer(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, PreTokenizer>, 9> names = {{
      {"gpt-2", PreTokenizer::gpt2},
      {"gpt2", PreTokenizer::gpt2},
      {"default", PreTokenizer::gpt2},
      {"llama-bpe", PreTokenizer::llama3},
      {"llama3", PreTokenizer::llama3},
      {"llama-v3", PreTokenizer::llama3},
      {"qwen2", PreTokenizer::qwen2},
      {"deepseek-r1-qwen", PreTokenizer::qwen2},
      {"kimi-k2", PreTokenizer::kimi_k2},
  }};
  for (const auto& [known, kind] : names) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

std::vector<std::string_view> split_words(PreTokenizer kind, std::string_view text) {
  const Matcher matcher(text);
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < matcher.size();) {
    std::size_t end = match(kind, matcher, at);
    if (end == at) ++end;  // what no alternative takes stands alone
    words.push_back(text.substr(matcher.begin(at), matcher.begin(end) - matcher.begin(at)));
    at = end;
  }
  return words;
}

}  // namespace serving::tokenizer
