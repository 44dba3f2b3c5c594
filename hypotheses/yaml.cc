#include "hypotheses/yaml.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hypotheses/nearest.h"
#include "hypotheses/yaml_tree.h"

namespace hypotheses {

struct YamlNode::Impl {
  std::shared_ptr<YamlSource> source;
  std::size_t index = 0;

  const YamlTreeNode& node() const { return source->nodes[index]; }
  YamlNode sibling(std::size_t other) const {
    return YamlNode(std::make_shared<const Impl>(Impl{source, other}));
  }
};

struct YamlDocument::Impl {
  std::shared_ptr<YamlSource> source;
};

namespace {

std::string found(const YamlTreeNode& node) {
  switch (node.kind) {
    case YamlTreeNode::Kind::null:
      return "found nothing";
    case YamlTreeNode::Kind::scalar:
      return "found " + shown(node.text);
    case YamlTreeNode::Kind::list:
      return "found a list";
    case YamlTreeNode::Kind::map:
      return "found a map";
  }
  return "found something else";
}

template <class T>
std::optional<T> whole_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<double> finite_number(std::string_view text) {
  const std::optional<double> value = whole_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> duration_s(std::string_view text) {
  struct Unit {
    std::string_view suffix;
    double seconds;
  };
  constexpr Unit kUnits[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};  // "ms" before "s"
  double scale = 1;
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.suffix)) continue;
    scale = unit.seconds;
    text.remove_suffix(unit.suffix.size());
    break;
  }
  const std::optional<double> value = finite_number(text);
  if (!value || *value < 0 || !std::isfinite(*value * scale)) return {};
  return *value * scale;
}

}  // namespace

std::string to_text(const std::vector<Mistake>& mistakes) {
  std::string text;
  for (const Mistake& mistake : mistakes) {
    if (!text.empty()) text += '\n';
    text += mistake.file + ":" + std::to_string(mistake.line) + ":" +
            std::to_string(mistake.column) + ": " + mistake.text;
  }
  if (mistakes.size() >= kMaxMistakes) text += "\nthere may be more; only so many are listed";
  return text;
}

bool YamlNode::is_map() const { return impl_ && impl_->node().kind == YamlTreeNode::Kind::map; }
bool YamlNode::is_list() const { return impl_ && impl_->node().kind == YamlTreeNode::Kind::list; }
bool YamlNode::is_scalar() const {
  return impl_ && impl_->node().kind == YamlTreeNode::Kind::scalar;
}

std::vector<std::string> YamlNode::keys(const std::vector<std::string_view>& allowed) const {
  if (!impl_) return {};
  if (!is_map()) {
    mistake("expected a map; " + found(impl_->node()));
    return {};
  }
  std::vector<std::string> keys;
  for (const YamlEntry& entry : impl_->node().entries) {
    keys.push_back(entry.key);
    const bool known =
        allowed.empty() || std::find(allowed.begin(), allowed.end(), entry.key) != allowed.end();
    if (known) continue;
    const std::string hint = did_you_mean(entry.key, allowed);
    std::string list;
    for (std::string_view key : allowed) list += (list.empty() ? "" : ", ") + std::string(key);
    impl_->source->report(entry.key_position, "unknown key " + shown(entry.key) +
                                                  (hint.empty() ? "; known are " + list : hint));
  }
  return keys;
}

YamlNode YamlNode::at(std::string_view key) const {
  if (!is_map()) return YamlNode();
  const YamlTreeNode& node = impl_->node();
  const auto place = node.index.find(key);
  if (place == node.index.end()) return YamlNode();
  return impl_->sibling(node.entries[place->second].value);
}

YamlNode YamlNode::required(std::string_view key) const {
  if (impl_ && !is_map()) mistake("expected a map; " + found(impl_->node()));
  YamlNode value = at(key);
  if (is_map() && !value.present()) mistake("missing key " + shown(key));
  return value;
}

std::vector<YamlNode> YamlNode::items() const {
  if (!impl_) return {};
  if (!is_list()) {
    mistake("expected a list; " + found(impl_->node()));
    return {};
  }
  std::vector<YamlNode> items;
  for (std::size_t index : impl_->node().items) items.push_back(impl_->sibling(index));
  return items;
}

std::optional<std::string> YamlNode::text() const {
  if (is_scalar()) return impl_->node().text;
  if (impl_) mistake("expected a single value; " + found(impl_->node()));
  return {};
}

std::optional<double> YamlNode::number() const {
  const std::optional<std::string> value = text();
  if (!value) return {};
  const std::optional<double> number = finite_number(*value);
  if (!number) mistake("expected a number; " + found(impl_->node()));
  return number;
}

std::optional<long> YamlNode::integer() const {
  const std::optional<std::string> value = text();
  if (!value) return {};
  const std::optional<long> number = whole_number<long>(*value);
  if (!number) mistake("expected a whole number; " + found(impl_->node()));
  return number;
}

std::optional<bool> YamlNode::boolean() const {
  const std::optional<std::string> value = text();
  if (!value) return {};
  if (*value == "true") return true;
  if (*value == "false") return false;
  mistake("expected true or false; " + found(impl_->node()));
  return {};
}

std::optional<double> YamlNode::fraction() const {
  const std::optional<std::string> value = text();
  if (!value) return {};
  std::string_view digits = *value;
  const bool percent = digits.ends_with('%');
  if (percent) digits.remove_suffix(1);
  const std::optional<double> number = finite_number(digits);
  if (!number) {
    mistake("expected a percentage like 5% or a fraction like 0.05; " + found(impl_->node()));
    return {};
  }
  return percent ? *number / 100 : *number;
}

std::optional<double> YamlNode::seconds() const {
  const std::optional<std::string> value = text();
  if (!value) return {};
  const std::optional<double> duration = duration_s(*value);
  if (!duration) mistake("expected a duration like 250ms, 30s, 5m or 8h; " + found(impl_->node()));
  return duration;
}

void YamlNode::mistake(std::string text) const {
  if (impl_) impl_->source->report(impl_->node().position, std::move(text));
}

void YamlNode::mistake_at_key(std::string_view key, std::string text) const {
  if (!is_map()) return mistake(std::move(text));
  const YamlTreeNode& node = impl_->node();
  const auto place = node.index.find(key);
  if (place == node.index.end()) return mistake(std::move(text));
  impl_->source->report(node.entries[place->second].key_position, std::move(text));
}

YamlDocument YamlDocument::parse(std::string_view text, std::string file) {
  YamlDocument document;
  document.impl_ = std::make_shared<Impl>(Impl{parse_yaml(text, std::move(file))});
  return document;
}

YamlNode YamlDocument::root() const {
  if (!impl_ || impl_->source->nodes.empty()) return YamlNode();
  return YamlNode(std::make_shared<const YamlNode::Impl>(YamlNode::Impl{impl_->source, 0}));
}

const std::vector<Mistake>& YamlDocument::mistakes() const {
  static const std::vector<Mistake> kNone;
  return impl_ ? impl_->source->mistakes : kNone;
}

}  // namespace hypotheses
