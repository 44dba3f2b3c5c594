// Files and folders: read whole within a limit, written all or nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

// The whole file; one of more than `limit_bytes` is refused.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::int64_t limit_bytes = std::int64_t{64} << 20);

enum class Durability { synced, fast };

// Readers see the old file or the new one, never a part; once it returned, `synced` also survives a
// loss of power (fsync of the file and of its folder).
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                             Durability durability = Durability::synced);

// Creates the folder and those above it; fine when it exists.
Status ensure_folder(const std::filesystem::path& path);

// Removes a file or a folder with all it holds, also read-only folders; fine when it does not
// exist. Symbolic links are removed, never followed.
Status remove_tree(const std::filesystem::path& path);

// A new empty folder, in the system's temporary folder or in another one, that goes away with the
// object.
class TempDir {
 public:
  TempDir();  // aborts when none can be made: for tests and tools
  explicit TempDir(const std::filesystem::path& within);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace base
