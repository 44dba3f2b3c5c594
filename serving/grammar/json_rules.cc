#include "serving/grammar/json_rules.h"

namespace serving {
namespace {

constexpr int kIndent = 16;
constexpr int kDigits = 15;

void fill_space(GrammarBuilder& g, RuleId rule) {
  const StateId end = g.end(rule);
  g.skip(g.begin(rule), end);
  g.range(g.begin(rule), ' ', ' ', end);
  StateId at = g.literal(g.begin(rule), "\n");
  g.skip(at, end);
  for (int i = 0; i < kIndent; ++i) {
    at = g.literal(at, " ");
    g.skip(at, end);
  }
}

// UTF-8 without overlong forms and surrogates: table 3-7 of the Unicode standard.
void fill_utf8(GrammarBuilder& g, StateId from, StateId to) {
  g.range(from, 0x20, 0x21, to);
  g.range(from, 0x23, 0x5b, to);
  g.range(from, 0x5d, 0x7e, to);
  const StateId one = g.add_state(), two = g.add_state(), three = g.add_state();  // bytes to come
  g.range(one, 0x80, 0xbf, to);
  g.range(two, 0x80, 0xbf, one);
  g.range(three, 0x80, 0xbf, two);
  g.range(from, 0xc2, 0xdf, one);
  g.range(g.range(from, 0xe0, 0xe0), 0xa0, 0xbf, one);
  g.range(from, 0xe1, 0xec, two);
  g.range(g.range(from, 0xed, 0xed), 0x80, 0x9f, one);
  g.range(from, 0xee, 0xef, two);
  g.range(g.range(from, 0xf0, 0xf0), 0x90, 0xbf, two);
  g.range(from, 0xf1, 0xf3, three);
  g.range(g.range(from, 0xf4, 0xf4), 0x80, 0x8f, two);
}

void hex(GrammarBuilder& g, StateId from, StateId to) {
  g.range(from, '0', '9', to);
  g.range(from, 'a', 'f', to);
  g.range(from, 'A', 'F', to);
}

StateId hex(GrammarBuilder& g, StateId from) {
  const StateId to = g.add_state();
  hex(g, from, to);
  return to;
}

// After \uD: 8-B and two digits, then \uDC00-\uDFFF; or 0-7 and two digits, no surrogate at all.
void fill_surrogates(GrammarBuilder& g, StateId after_d, StateId last_two, StateId to) {
  g.range(after_d, '0', '7', last_two);
  const StateId high = g.add_state();
  g.range(after_d, '8', '9', high);
  g.range(after_d, 'a', 'b', high);
  g.range(after_d, 'A', 'B', high);
  const StateId u = g.literal(hex(g, hex(g, high)), "\\u");
  const StateId d = g.add_state(), low = g.add_state();
  g.range(u, 'd', 'd', d);
  g.range(u, 'D', 'D', d);
  g.range(d, 'c', 'f', low);
  g.range(d, 'C', 'F', low);
  hex(g, hex(g, low), to);
}

void fill_character(GrammarBuilder& g, RuleId rule) {
  const StateId end = g.end(rule);
  fill_utf8(g, g.begin(rule), end);
  const StateId escape = g.literal(g.begin(rule), "\\");
  for (char c : {'"', '\\', '/', 'b', 'f', 'n', 'r', 't'}) {
    g.range(escape, static_cast<std::uint8_t>(c), static_cast<std::uint8_t>(c), end);
  }
  const StateId u = g.literal(escape, "u");
  const StateId last_three = g.add_state(), last_two = g.add_state(), after_d = g.add_state();
  g.range(u, '0', '9', last_three);
  g.range(u, 'a', 'c', last_three);
  g.range(u, 'A', 'C', last_three);
  g.range(u, 'e', 'f', last_three);
  g.range(u, 'E', 'F', last_three);
  g.range(u, 'd', 'd', after_d);
  g.range(u, 'D', 'D', after_d);
  hex(g, last_three, last_two);
  hex(g, hex(g, last_two), end);
  fill_surrogates(g, after_d, last_two, end);
}

void fill_string(GrammarBuilder& g, RuleId rule, RuleId character) {
  const StateId inside = g.literal(g.begin(rule), "\"");
  g.call(inside, character, inside);
  g.range(inside, '"', '"', g.end(rule));
}

// Between `least` and `most` digits.
void digits(GrammarBuilder& g, StateId from, int least, int most, StateId to) {
  for (int i = 0; i < most; ++i) {
    if (i >= least) g.skip(from, to);
    from = g.range(from, '0', '9');
  }
  g.skip(from, to);
}

void fill_integer(GrammarBuilder& g, RuleId rule) {
  const StateId positive = g.literal(g.begin(rule), "-");
  g.skip(g.begin(rule), positive);
  g.range(positive, '0', '0', g.end(rule));
  digits(g, g.range(positive, '1', '9'), 0, kDigits - 1, g.end(rule));
}

void fill_number(GrammarBuilder& g, RuleId rule, RuleId integer) {
  const StateId whole = g.call(g.begin(rule), integer);
  const StateId fraction = g.add_state();
  g.skip(whole, fraction);
  digits(g, g.literal(whole, "."), 1, kDigits, fraction);
  g.skip(fraction, g.end(rule));
  const StateId e = g.add_state(), sign = g.add_state();
  g.range(fraction, 'e', 'e', e);
  g.range(fraction, 'E', 'E', e);
  g.skip(e, sign);
  g.range(e, '+', '+', sign);
  g.range(e, '-', '-', sign);
  digits(g, sign, 1, 2, g.end(rule));  // 1e114 at most: finite in a double
}

}  // namespace

JsonRules::JsonRules(GrammarBuilder& g)
    : space(g.add_rule()),
      character(g.add_rule()),
      string(g.add_rule()),
      integer(g.add_rule()),
      number(g.add_rule()),
      boolean(g.add_rule()),
      null(g.add_rule()),
      value(g.add_rule()),
      object(g.add_rule()),
      array(g.add_rule()) {
  fill_space(g, space);
  fill_character(g, character);
  fill_string(g, string, character);
  fill_integer(g, integer);
  fill_number(g, number, integer);
  g.skip(g.literal(g.begin(boolean), "true"), g.end(boolean));
  g.skip(g.literal(g.begin(boolean), "false"), g.end(boolean));
  g.skip(g.literal(g.begin(null), "null"), g.end(null));
  for (RuleId rule : {string, number, boolean, null, object, array}) {
    g.call(g.begin(value), rule, g.end(value));
  }
  // "{" space (member ("," space member)* space)? "}", and the same with brackets.
  const StateId open = g.call(g.literal(g.begin(object), "{"), space);
  g.range(open, '}', '}', g.end(object));
  const StateId key = g.call(open, string);
  const StateId member = g.call(g.call(g.literal(key, ":"), space), value);
  g.call(g.call(g.literal(member, ","), space), string, key);
  g.range(g.call(member, space), '}', '}', g.end(object));

  const StateId bracket = g.call(g.literal(g.begin(array), "["), space);
  g.range(bracket, ']', ']', g.end(array));
  const StateId element = g.call(bracket, value);
  g.call(g.call(g.literal(element, ","), space), value, element);
  g.range(g.call(element, space), ']', ']', g.end(array));
}

}  // namespace serving
