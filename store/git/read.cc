// Mirror: reading commits.
#include <git2.h>

#include <algorithm>
#include <set>

#include "store/git/commit.h"
#include "store/git/handles.h"
#include "store/git/names.h"
#include "store/git/repository.h"

namespace store::git {
namespace {

Result<Diff> diff_of(git_repository* repo, const CommitId& a, const CommitId& b) {
  NS_ASSIGN(old_tree, load_tree(repo, a));
  NS_ASSIGN(new_tree, load_tree(repo, b));
  git_diff_options options;
  git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
  options.flags = GIT_DIFF_INCLUDE_TYPECHANGE;
  Diff diff;
  NS_TRY(check(git_diff_tree_to_tree(into(diff), repo, old_tree.get(), new_tree.get(), &options),
               "cannot compare", a.brief() + ".." + b.brief()));
  return diff;
}

int collect_file(const char* root, const git_tree_entry* entry, void* payload) {
  if (git_tree_entry_type(entry) == GIT_OBJECT_BLOB) {
    static_cast<std::vector<std::string>*>(payload)->push_back(std::string(root) +
                                                               git_tree_entry_name(entry));
  }
  return 0;
}

Result<std::string> blob_text(git_repository* repo, const git_oid& id, const std::string& path) {
  Blob blob;
  NS_TRY(check(git_blob_lookup(into(blob), repo, &id), "cannot read the file", path));
  return std::string(static_cast<const char*>(git_blob_rawcontent(blob.get())),
                     static_cast<std::size_t>(git_blob_rawsize(blob.get())));
}

struct BoundedText {
  std::size_t limit;
  std::string text{};
  bool cut = false;
};

// The beginning of `text` that is longer than `limit`: whole lines, or where not even one fits,
// whole UTF-8 characters and a line break.
std::string beginning(const std::string& text, std::size_t limit) {
  if (const auto end = text.rfind('\n', limit);
      limit > 0 && end != std::string::npos && end < limit) {
    return text.substr(0, end + 1);
  }
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return text.substr(0, limit) + "\n";
}

int append_line(const git_diff_delta*, const git_diff_hunk*, const git_diff_line* line,
                void* payload) {
  auto& out = *static_cast<BoundedText*>(payload);
  std::string text;
  if (line->origin == GIT_DIFF_LINE_CONTEXT || line->origin == GIT_DIFF_LINE_ADDITION ||
      line->origin == GIT_DIFF_LINE_DELETION) {
    text += line->origin;
  }
  text.append(line->content, line->content_len);
  if (out.text.size() + text.size() <= out.limit) {
    out.text += text;
    return 0;
  }
  // The header of the first file is one piece of several lines.
  if (out.text.empty()) out.text = beginning(text, out.limit);
  out.cut = true;
  return GIT_EUSER;
}

}  // namespace

Result<std::string> Mirror::file_at(const CommitId& commit, std::string_view path) const {
  NS_TRY(check_path(path));
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(tree, load_tree(repo.get(), commit));
  const std::string name(path), where = name + " in commit " + commit.brief();
  TreeEntry entry;
  const int code = git_tree_entry_bypath(into(entry), tree.get(), name.c_str());
  if (code == GIT_ENOTFOUND) {
    return base::fail(base::ErrorCode::not_found, "expected a file, found none of this name",
                      where);
  }
  NS_TRY(check(code, "cannot look up the file", where));
  if (git_tree_entry_type(entry.get()) != GIT_OBJECT_BLOB) {
    return base::fail(base::ErrorCode::bad_input, "expected a file, found a folder or a submodule",
                      where);
  }
  Blob blob;
  NS_TRY(check(git_blob_lookup(into(blob), repo.get(), git_tree_entry_id(entry.get())),
               "cannot read the file", where));
  std::string content(static_cast<const char*>(git_blob_rawcontent(blob.get())),
                      static_cast<std::size_t>(git_blob_rawsize(blob.get())));
  if (git_tree_entry_filemode(entry.get()) == GIT_FILEMODE_LINK) {
    return base::fail(base::ErrorCode::bad_input,
                      "expected a file, found a symbolic link to '" + content + "'; name that",
                      where);
  }
  return content;
}

Result<std::vector<std::string>> Mirror::list_files(const CommitId& commit) const {
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(tree, load_tree(repo.get(), commit));
  std::vector<std::string> files;
  NS_TRY(check(git_tree_walk(tree.get(), GIT_TREEWALK_PRE, collect_file, &files),
               "cannot list the files", commit.hex));
  return files;
}

Result<std::vector<std::string>> Mirror::lacks(const CommitId& commit) const {
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(index, index_of(repo.get(), commit));
  std::vector<std::string> out;
  for (std::size_t i = 0; i < git_index_entrycount(index.get()); ++i) {
    const git_index_entry* entry = git_index_get_byindex(index.get(), i);
    const std::string path = entry->path;
    if (entry->mode == GIT_FILEMODE_COMMIT) {
      out.push_back("the submodule " + path +
                    " stays an empty folder: submodules are not checked out; commit its files, or "
                    "let no probe need them");
    }
    if (path != ".gitattributes" && !path.ends_with("/.gitattributes")) continue;
    NS_ASSIGN(rules, blob_text(repo.get(), entry->id, path));
    if (rules.find("filter=lfs") == std::string::npos) continue;
    out.push_back("files that " + path +
                  " gives to git-lfs are checked out as the pointers that are committed, not as "
                  "their contents; commit the files themselves, or let no probe need them");
  }
  return out;
}

Result<std::vector<std::string>> Mirror::changed_paths(const CommitId& a, const CommitId& b) const {
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(diff, diff_of(repo.get(), a, b));
  std::set<std::string> paths;
  for (std::size_t i = 0; i < git_diff_num_deltas(diff.get()); ++i) {
    const git_diff_delta* delta = git_diff_get_delta(diff.get(), i);
    paths.insert(delta->old_file.path);
    paths.insert(delta->new_file.path);
  }
  return std::vector<std::string>(paths.begin(), paths.end());
}

Result<std::string> Mirror::diff_text(const CommitId& a, const CommitId& b,
                                      std::size_t max_bytes) const {
  NS_ASSIGN(repo, open_repository(path_));
  NS_ASSIGN(diff, diff_of(repo.get(), a, b));
  BoundedText out{max_bytes};
  const int code = git_diff_print(diff.get(), GIT_DIFF_FORMAT_PATCH, append_line, &out);
  if (!out.cut) NS_TRY(check(code, "cannot print the diff", a.brief() + ".." + b.brief()));
  if (out.cut) {
    out.text += "[diff cut after " + std::to_string(out.text.size()) + " bytes; in all " +
                std::to_string(git_diff_num_deltas(diff.get())) + " files changed]\n";
  }
  return out.text;
}

}  // namespace store::git
