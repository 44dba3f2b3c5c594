#include "scripts/tidy/rules.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tidy {
namespace {

// ---- The house. Who may include whom; an allowlist. A folder may always include itself.
struct Layer {
  std::string_view folder;
  std::vector<std::string_view> may_include;
};

const std::vector<Layer>& layers() {
  static const std::vector<Layer> kLayers = {
      {"base", {}},
      {"hypotheses", {"base"}},
      {"policies", {"hypotheses", "base"}},
      {"store", {"hypotheses", "base"}},
      {"runners", {"hypotheses", "base"}},
      {"web", {"hypotheses", "policies", "store", "base"}},
      {"orchestrator", {"hypotheses", "policies", "store", "runners", "web", "base"}},
      {"kernels", {}},
      {"serving", {"kernels"}},
      {"scripts", {}},
  };
  return kLayers;
}

const Layer* layer_of(std::string_view folder) {
  for (const Layer& layer : layers()) {
    if (layer.folder == folder) return &layer;
  }
  return nullptr;
}

// ---- Libraries with a house of their own. An include matches by prefix; a source by folder.
struct Library {
  std::string_view include;
  std::vector<std::string_view> folders;
  bool headers_too;
  std::string_view instead;
};

const std::vector<Library>& libraries() {
  static const std::vector<Library> kLibraries = {
      {"yaml-cpp/", {"hypotheses/"}, false, "read YAML through hypotheses/yaml.h"},
      {"sqlite3", {"store/"}, true, "ask the store, or declare `struct sqlite3;`"},
      {"git2", {"store/git/"}, false, "use store/git/, or declare the handle's struct"},
      {"httplib",
       {"web/api/", "orchestrator/", "serving/api/", "serving/bench/"},
       false,
       "speak HTTP in web/api/, orchestrator/, serving/api/ or serving/bench/"},
      {"spdlog/", {"base/"}, true, "log through base/"},
  };
  return kLibraries;
}

// ---- Calls that take away a test's control.
enum class Form {
  word,    // wherever the word stands
  call,    // a call of a free function, unqualified or in std::
  member,  // a call on an object
};

struct Ban {
  std::string_view word;
  Form form;
  std::string_view instead;
};

constexpr std::string_view kClock = "reads the wall clock: take a base::Clock";
constexpr std::string_view kRandom = "is not seeded by the test: take a base::Rng";
constexpr std::string_view kSleep = "waits for time to pass: wait on a condition or a queue";
constexpr std::string_view kDetach = "leaves a thread nobody joins: keep a std::jthread";

constexpr std::array kBans = {
    Ban{"system_clock", Form::word, kClock},
    Ban{"utc_clock", Form::word, kClock},
    Ban{"file_clock", Form::word, kClock},
    Ban{"high_resolution_clock", Form::word, kClock},
    Ban{"time", Form::call, kClock},
    Ban{"gettimeofday", Form::call, kClock},
    Ban{"clock_gettime", Form::call, kClock},
    Ban{"timespec_get", Form::call, kClock},
    Ban{"rand", Form::call, kRandom},
    Ban{"srand", Form::call, kRandom},
    Ban{"rand_r", Form::call, kRandom},
    Ban{"drand48", Form::call, kRandom},
    Ban{"random_device", Form::word, kRandom},
    Ban{"sleep", Form::call, kSleep},
    Ban{"usleep", Form::call, kSleep},
    Ban{"nanosleep", Form::call, kSleep},
    Ban{"clock_nanosleep", Form::call, kSleep},
    Ban{"sleep_for", Form::word, kSleep},
    Ban{"sleep_until", Form::word, kSleep},
    Ban{"detach", Form::member, kDetach},
    Ban{"pthread_detach", Form::call, kDetach},
};

constexpr std::array<std::string_view, 3> kFoldersWithoutBans = {"base", "kernels", "serving"};

// First components of paths that exist on one machine only.
constexpr std::array<std::string_view, 8> kMachineRoots = {
    "home", "root", "Users", "mnt", "media", "scratch", "work", "workspace"};

constexpr int kFileLines = 400;
constexpr int kMarkerLines = 10;  // a file's `size:` sentence stands in these

// The words that may stand before a call and do not make it a declaration.
bool is_statement_word(std::string_view word) {
  constexpr std::array<std::string_view, 8> kWords = {
      "return", "else", "do", "case", "throw", "co_yield", "co_await", "co_return"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

std::string_view last_word(std::string_view text) {
  std::size_t start = text.size();
  while (start > 0 && is_word(text[start - 1])) --start;
  return text.substr(start);
}

bool matches(Form form, std::string_view before, std::string_view after) {
  if (form == Form::word) return true;
  if (!trim(after).starts_with('(')) return false;
  before = trim(before);
  bool on_object = before.ends_with('.') || before.ends_with("->");
  if (form == Form::member) return on_object;
  if (on_object) return false;
  if (before.ends_with("::")) {
    std::string_view scope = last_word(before.substr(0, before.size() - 2));
    return scope.empty() || scope == "std";
  }
  std::string_view word = last_word(before);  // "double time(" declares another time
  return word.empty() || is_statement_word(word);
}

bool uses(const Ban& ban, std::string_view code) {
  for (std::size_t at = code.find(ban.word); at != std::string_view::npos;
       at = code.find(ban.word, at + 1)) {
    std::string_view before = code.substr(0, at);
    std::string_view after = code.substr(at + ban.word.size());
    bool whole =
        (before.empty() || !is_word(before.back())) && (after.empty() || !is_word(after.front()));
    if (whole && matches(ban.form, before, after)) return true;
  }
  return false;
}

// Root, slash and the first letter of the next component, unless the slash continues a longer path.
std::string_view machine_path(std::string_view line) {
  for (std::size_t at = line.find('/'); at != std::string_view::npos; at = line.find('/', at + 1)) {
    std::string_view rest = line.substr(at + 1);
    if (at > 0 && (is_word(line[at - 1]) ||
                   std::string_view(".})/-*").find(line[at - 1]) != std::string_view::npos)) {
      continue;
    }
    for (std::string_view root : kMachineRoots) {
      if (!rest.starts_with(root)) continue;
      std::string_view next = rest.substr(root.size());
      if (next.size() > 1 && next[0] == '/' && is_word(next[1])) {
        return line.substr(at, root.size() + 2);
      }
    }
  }
  return {};
}

bool is_excused(const Line& line) { return has_reason(line.text, "tidy:"); }

std::string join(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text.empty() ? "nothing of ours" : text;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// Why the include is not allowed; empty when it is.
std::string include_mistake(const Source& source, const Include& include) {
  std::string_view from = folder_of(source.path);
  std::string_view to = folder_of(include.path);
  if (layer_of(to) == nullptr) {
    if (!include.quoted) return {};
    return quoted(include.path) +
           " is not a path from the repository's root; quotes are for our own headers, written "
           "from the root, third-party headers take <>";
  }
  const Layer* layer = layer_of(from);
  if (from == to || layer == nullptr) return {};
  const auto& allowed = layer->may_include;
  if (std::find(allowed.begin(), allowed.end(), to) != allowed.end()) return {};
  return std::string(from) + "/ may not include " + std::string(to) + "/ (it may include " +
         join(allowed) +
         "); pass the value in, or move the declaration down a layer (docs/decisions.md)";
}

std::string third_party_mistake(const Source& source, std::string_view include) {
  if (include.starts_with("catch2/") && !is_test(source.path)) {
    return "Catch2 belongs in tests: name the file x_test.cc, or test_x.h or x_contract.h for what "
           "tests share";
  }
  for (const Library& library : libraries()) {
    if (!include.starts_with(library.include)) continue;
    bool home =
        std::any_of(library.folders.begin(), library.folders.end(),
                    [&](std::string_view folder) { return source.path.starts_with(folder); });
    bool place = library.headers_too || !is_header(source.path) || is_test(source.path);
    if (home && place) return {};
    return quoted(include) + " may be included only in " + join(library.folders) +
           (library.headers_too ? "" : " and not in headers (other than test_x.h)") + "; " +
           std::string(library.instead);
  }
  return {};
}

}  // namespace

std::vector<std::string_view> folders() {
  std::vector<std::string_view> names;
  for (const Layer& layer : layers()) names.push_back(layer.folder);
  return names;
}

std::string to_text(const Violation& violation) {
  return violation.path + ":" + std::to_string(violation.line) + ": [" + violation.rule + "] " +
         violation.text;
}

std::string to_text(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) text += "\n  " + to_text(violation);
  return text;
}

std::vector<Violation> include_rule(const Source& source) {
  std::vector<Violation> violations;
  const Code code(source);
  for (const Line& line : code.lines()) {
    Include include = include_of(line);
    if (include.path.empty() || is_excused(line)) continue;
    std::string mistake = include_mistake(source, include);
    if (!mistake.empty()) violations.push_back({source.path, line.number, "include", mistake});
  }
  return violations;
}

std::vector<Violation> third_party_rule(const Source& source) {
  std::vector<Violation> violations;
  const Code code(source);
  for (const Line& line : code.lines()) {
    Include include = include_of(line);
    if (include.path.empty() || is_excused(line)) continue;
    std::string mistake = third_party_mistake(source, include.path);
    if (!mistake.empty()) violations.push_back({source.path, line.number, "library", mistake});
  }
  return violations;
}

std::vector<Violation> file_size_rule(const Source& source) {
  const Code code(source);
  const auto& lines = code.lines();
  if (lines.size() <= kFileLines) return {};
  for (std::size_t i = 0; i < kMarkerLines; ++i) {
    if (has_reason(lines[i].text, "size:")) return {};
  }
  return {{source.path, kFileLines + 1, "file size",
           std::to_string(lines.size()) + " lines, at most " + std::to_string(kFileLines) +
               "; split the file, or say in its first lines `// size: why it is one thing`"}};
}

std::vector<Violation> banned_call_rule(const Source& source) {
  std::string_view folder = folder_of(source.path);
  if (std::find(kFoldersWithoutBans.begin(), kFoldersWithoutBans.end(), folder) !=
      kFoldersWithoutBans.end()) {
    return {};
  }
  std::vector<Violation> violations;
  const Code code(source);
  for (const Line& line : code.lines()) {
    if (is_excused(line)) continue;
    for (const Ban& ban : kBans) {
      if (!uses(ban, line.code)) continue;
      violations.push_back({source.path, line.number, "banned call",
                            quoted(ban.word) + " " + std::string(ban.instead) +
                                ", or end the line with `// tidy: why it must be`"});
    }
  }
  return violations;
}

std::vector<Violation> text_rule(const Source& source) {
  std::vector<Violation> violations;
  const Code code(source);
  bool once = false;
  for (const Line& line : code.lines()) {
    once = once || trim(line.code) == "#pragma once";
    if (is_excused(line)) continue;
    if (line.text.find('\t') != std::string_view::npos) {
      violations.push_back({source.path, line.number, "text", "a tab; indent with spaces"});
    }
    std::string_view path = machine_path(line.text);
    if (!path.empty()) {
      violations.push_back(
          {source.path, line.number, "text",
           quoted(path) + " starts a path of one machine; take it as an argument"});
    }
  }
  // Highway's -inl.h headers are included once an instruction set, by design.
  if (is_header(source.path) && !source.path.ends_with("-inl.h") && !once) {
    violations.push_back({source.path, 1, "text", "no `#pragma once`; add it below the comment"});
  }
  return violations;
}

}  // namespace tidy
