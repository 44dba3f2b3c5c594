// JSON itself as rules of a grammar (RFC 8259), somewhat narrowed so that every text is finite and
// means the same to every reader: numbers are bounded in digits, surrogates come in pairs, and
// whitespace is at most one blank, or a line break and 16 blanks, where it may stand.
#pragma once

#include "serving/grammar/grammar.h"

namespace serving {

struct JsonRules {
  explicit JsonRules(GrammarBuilder& builder);  // after rule 0 was added

  RuleId space;      // may be empty
  RuleId character;  // of a string: one code point, as UTF-8 or escaped
  RuleId string;
  RuleId integer;  // at most 15 digits, which a double holds exactly
  RuleId number;
  RuleId boolean;
  RuleId null;
  RuleId value;  // any
  RuleId object;
  RuleId array;
};

}  // namespace serving
