#include "serving/grammar/schema.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <unordered_map>

#include "serving/grammar/json_rules.h"
#include "serving/grammar/schema_reader.h"

namespace serving {
namespace {

constexpr int kDepth = 64;
constexpr std::size_t kExclusiveBranches = 64;  // each is compared with each
constexpr std::size_t kNameBytes = 64 << 10;    // of one object's properties together

class SchemaCompiler {
 public:
  explicit SchemaCompiler(const Json& root)
      : root_(root), reader_(root), whole_(builder_.add_rule()), json_(builder_) {}

  Result<Grammar> compile() && {
    rules_[&root_] = whole_;
    fill(root_, whole_, "#");
    // Last, as it looks into schemas that must have been checked, wherever references lead.
    for (const auto& [branches, path] : one_ofs_) require_exclusive(*branches, path);
    if (error_) return tl::unexpected<Error>(*error_);
    return std::move(builder_).build();
  }

 private:
  // The rule of a schema; the same for each reference to it, so that it may refer to itself.
  RuleId rule_of(const Json& schema, const std::string& path) {
    const auto [found, fresh] = rules_.try_emplace(&schema, -1);
    if (!fresh) return found->second;
    const RuleId rule = found->second = builder_.add_rule();
    if (++depth_ > kDepth) fail("the schema is nested deeper than 64 levels");
    fill(schema, rule, path);
    --depth_;
    return rule;
  }

  void fill(const Json& schema, RuleId rule, const std::string& path) {
    if (const Status sound = reader_.check(schema, path); !sound) fail(sound.error().message);
    if (error_) return;
    if (schema.is_boolean()) {
      if (schema.get<bool>()) alternative(rule, json_.value);
    } else if (schema.contains("$ref")) {
      const auto target = reader_.resolve(schema["$ref"].get<std::string>());
      if (!target) return fail(target.error().message);
      alternative(rule, rule_of(**target, schema["$ref"].get<std::string>()));
    } else if (schema.contains("anyOf")) {
      fill_branches(schema["anyOf"], rule, path + "/anyOf");
    } else if (schema.contains("oneOf")) {
      one_ofs_.emplace_back(&schema["oneOf"], path + "/oneOf");
      fill_branches(schema["oneOf"], rule, path + "/oneOf");
    } else if (schema.contains("allOf")) {
      fill_branches(schema["allOf"], rule, path + "/allOf");
    } else if (schema.contains("const")) {
      fill_value(schema, schema["const"], rule);
    } else if (schema.contains("enum")) {
      for (const Json& value : schema["enum"]) fill_value(schema, value, rule);
    } else {
      for (Type type : reader_.types(schema)) fill_type(schema, type, rule, path);
    }
  }

  void fill_branches(const Json& branches, RuleId rule, const std::string& path) {
    for (std::size_t i = 0; i < branches.size(); ++i) {
      alternative(rule, rule_of(branches[i], path + "/" + std::to_string(i)));
    }
  }

  void require_exclusive(const Json& branches, const std::string& path) {
    if (error_) return;
    if (branches.size() > kExclusiveBranches) return fail(path + " has more than 64 branches");
    for (std::size_t i = 0; i < branches.size(); ++i) {
      for (std::size_t j = i + 1; j < branches.size(); ++j) {
        if (reader_.exclude_each_other(branches[i], branches[j])) continue;
        return fail("branches " + std::to_string(i) + " and " + std::to_string(j) + " of " + path +
                    " might hold for the same value; give them different types or a required "
                    "property of different constants, or use anyOf");
      }
    }
  }

  // One text of the value; others that mean the same (blanks, escapes) are left out.
  void fill_value(const Json& schema, const Json& value, RuleId rule) {
    bool allowed = false;
    for (Type type : reader_.types(schema)) allowed = allowed || has_type(value, type);
    if (!allowed) return;
    builder_.skip(builder_.literal(builder_.begin(rule), value.dump()), builder_.end(rule));
  }

  void fill_type(const Json& schema, Type type, RuleId rule, const std::string& path) {
    switch (type) {
      case Type::object:
        return fill_object(schema, rule, path);
      case Type::array:
        return fill_array(schema, rule, path);
      case Type::string:
        return fill_string(schema, rule);
      case Type::number:
        return alternative(rule, json_.number);
      case Type::integer:
        return alternative(rule, json_.integer);
      case Type::boolean:
        return alternative(rule, json_.boolean);
      case Type::null:
        return alternative(rule, json_.null);
    }
  }

  // `least` to `most` times `one` (most < 0: without limit) from `from` to `to`; behind the first
  // each comes after `between`.
  template <class Between>
  void repeat(StateId from, RuleId one, int least, int most, StateId to, Between between) {
    if (most >= 0 && least > most) return;
    if (least == 0) builder_.skip(from, to);
    if (most == 0) return;
    StateId at = builder_.call(from, one);
    for (int count = 1; most < 0 ? count < least : count < most; ++count) {
      if (count >= least) builder_.skip(at, to);
      at = builder_.call(between(at), one);
    }
    builder_.skip(at, to);
    if (most < 0) builder_.call(between(at), one, at);
  }

  void fill_string(const Json& schema, RuleId rule) {
    const StateId inside = builder_.literal(builder_.begin(rule), "\"");
    const StateId after = builder_.add_state();
    repeat(inside, json_.character, schema.value("minLength", 0), schema.value("maxLength", -1),
           after, [](StateId at) { return at; });
    builder_.range(after, '"', '"', builder_.end(rule));
  }

  void fill_array(const Json& schema, RuleId rule, const std::string& path) {
    const RuleId item =
        schema.contains("items") ? rule_of(schema["items"], path + "/items") : json_.value;
    const StateId inside = builder_.call(builder_.literal(builder_.begin(rule), "["), json_.space);
    const StateId after = builder_.add_state();
    repeat(inside, item, schema.value("minItems", 0), schema.value("maxItems", -1), after,
           [this](StateId at) { return comma(at); });
    builder_.range(builder_.call(after, json_.space), ']', ']', builder_.end(rule));
  }

  StateId comma(StateId at) { return builder_.call(builder_.literal(at, ","), json_.space); }

  // In the order of the schema. While no property was written yet (`none`), the next needs no
  // comma.
  void fill_object(const Json& schema, RuleId rule, const std::string& path) {
    StateId none = builder_.call(builder_.literal(builder_.begin(rule), "{"), json_.space);
    StateId some = builder_.add_state();
    std::set<std::string> names, required;
    for (const Json& name : member(schema, "required")) required.insert(name);
    const auto add = [&](const std::string& name, RuleId value) {
      names.insert(name);
      const StateId colon = builder_.add_state();
      const std::string key = Json(name).dump() + ":";
      builder_.skip(builder_.literal(none, key), colon);
      builder_.skip(builder_.literal(comma(some), key), colon);
      const StateId done = builder_.call(builder_.call(colon, json_.space), value);
      const StateId next_none = builder_.add_state();  // not reached behind a required property
      if (!required.contains(name)) {
        builder_.skip(none, next_none);
        builder_.skip(some, done);
      }
      none = next_none;
      some = done;
    };
    for (const auto& [name, value] : member(schema, "properties").items()) {
      add(name, rule_of(value, path + "/properties/" + name));
    }
    const RuleId other = rule_of_others(schema, path);
    for (const std::string& name : required) {
      if (!names.contains(name)) add(name, other);
    }
    close_object(schema, rule, none, some, names, other);
  }

  void close_object(const Json& schema, RuleId rule, StateId none, StateId some,
                    const std::set<std::string>& names, RuleId other) {
    std::size_t name_bytes = 0;
    for (const std::string& name : names) name_bytes += name.size();
    if (name_bytes > kNameBytes) return fail("the names of properties are too long");
    const StateId last = builder_.add_state();
    builder_.skip(none, last);
    builder_.skip(some, last);
    if (schema.contains("additionalProperties") || names.empty()) {
      const RuleId key = add_other_name(names);
      const StateId colon = builder_.call(none, key);
      builder_.call(comma(some), key, colon);
      const StateId done = builder_.call(builder_.call(colon, json_.space), other);
      builder_.call(comma(done), key, colon);
      builder_.skip(done, last);
    }
    builder_.range(builder_.call(last, json_.space), '}', '}', builder_.end(rule));
  }

  RuleId rule_of_others(const Json& schema, const std::string& path) {
    const auto found = schema.find("additionalProperties");
    return found == schema.end() ? json_.value : rule_of(*found, path + "/additionalProperties");
  }

  // A key with its colon that is none of `names`: a tree of the names, which may be left at any
  // character that none of them goes on with, and ended where none of them ends.
  RuleId add_other_name(const std::set<std::string>& names) {
    const RuleId rule = builder_.add_rule();
    const StateId free = builder_.add_state(), after = builder_.literal(free, "\"");
    printable_except(free, {}, free);
    builder_.skip(builder_.literal(after, ":"), builder_.end(rule));
    struct Node {
      StateId state;
      std::string prefix;
    };
    std::vector<Node> open = {{builder_.literal(builder_.begin(rule), "\""), ""}};
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      std::set<char> next;
      for (const std::string& name : names) {
        if (name.size() > node.prefix.size() && name.starts_with(node.prefix)) {
          next.insert(name[node.prefix.size()]);
        }
      }
      if (!names.contains(node.prefix)) builder_.range(node.state, '"', '"', after);
      printable_except(node.state, next, free);
      for (char c : next) {
        if (!is_printable(c)) continue;  // no key of ours goes there
        const auto byte = static_cast<std::uint8_t>(c);
        open.push_back({builder_.range(node.state, byte, byte), node.prefix + c});
      }
    }
    return rule;
  }

  static bool is_printable(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

  void printable_except(StateId from, const std::set<char>& except, StateId to) {
    for (char c = ' '; c <= '~'; ++c) {
      if (!is_printable(c) || except.contains(c)) continue;
      builder_.range(from, static_cast<std::uint8_t>(c), static_cast<std::uint8_t>(c), to);
    }
  }

  void alternative(RuleId rule, RuleId other) {
    builder_.call(builder_.begin(rule), other, builder_.end(rule));
  }

  void fail(const std::string& message) {
    if (!error_) error_ = Error{ErrorCode::bad_input, message};
  }

  const Json& root_;
  SchemaReader reader_;
  GrammarBuilder builder_;
  RuleId whole_;
  JsonRules json_;
  std::unordered_map<const Json*, RuleId> rules_;
  std::vector<std::pair<const Json*, std::string>> one_ofs_;  // and their paths
  std::optional<Error> error_;
  int depth_ = 0;
};

}  // namespace

Result<Grammar> grammar_of_schema(const Json& schema) { return SchemaCompiler(schema).compile(); }

}  // namespace serving
