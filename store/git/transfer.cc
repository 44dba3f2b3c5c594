#include "store/git/transfer.h"

#include <git2.h>
#include <git2/sys/odb_backend.h>

namespace store::git {
namespace {

struct FreePackWriter {
  void operator()(git_odb_writepack* writer) const noexcept { writer->free(writer); }
};
using PackWriter = std::unique_ptr<git_odb_writepack, FreePackWriter>;

struct PackSink {
  git_odb_writepack* writer;
  git_indexer_progress progress{};
};

int append_to_pack(void* bytes, size_t size, void* payload) {
  auto* sink = static_cast<PackSink*>(payload);
  return sink->writer->append(sink->writer, bytes, size, &sink->progress);
}

// Walks what `to` lacks; false when it lacks nothing.
Result<bool> aim(git_revwalk* walk, git_odb* from, git_odb* to, const std::vector<CommitId>& want,
                 const std::vector<CommitId>& have) {
  bool lacking = false;
  for (const CommitId& id : want) {
    git_oid oid;
    NS_TRY(parse_id(id, &oid));
    if (git_odb_exists(to, &oid)) continue;
    NS_TRY(check(git_revwalk_push(walk, &oid), "cannot read the commit to copy", id.hex));
    lacking = true;
  }
  if (!lacking) return false;
  for (const CommitId& id : have) {
    git_oid oid;
    NS_TRY(parse_id(id, &oid));
    if (!git_odb_exists(from, &oid)) continue;
    NS_TRY(check(git_revwalk_hide(walk, &oid), "cannot read a known commit", id.hex));
  }
  return true;
}

}  // namespace

Status copy_commits(git_repository* from, git_repository* to, const std::vector<CommitId>& want,
                    const std::vector<CommitId>& have) {
  const std::string where = git_repository_path(from);
  const std::string destination = git_repository_path(to);
  Odb from_odb, to_odb;
  NS_TRY(check(git_repository_odb(into(from_odb), from), "cannot open the object database", where));
  NS_TRY(
      check(git_repository_odb(into(to_odb), to), "cannot open the object database", destination));
  Revwalk walk;
  NS_TRY(check(git_revwalk_new(into(walk), from), "cannot walk the history", where));
  NS_ASSIGN(lacking, aim(walk.get(), from_odb.get(), to_odb.get(), want, have));
  if (!lacking) return {};

  PackBuilder pack;
  NS_TRY(check(git_packbuilder_new(into(pack), from), "cannot start a pack", where));
  NS_TRY(check(git_packbuilder_insert_walk(pack.get(), walk.get()),
               "cannot collect the objects to copy (is it a partial clone?)", where));
  if (git_packbuilder_object_count(pack.get()) == 0) return {};
  PackWriter writer;
  NS_TRY(check(git_odb_write_pack(into(writer), to_odb.get(), nullptr, nullptr),
               "cannot write a pack (may we write there?)", destination));
  PackSink sink{writer.get()};
  NS_TRY(check(git_packbuilder_foreach(pack.get(), append_to_pack, &sink),
               "cannot copy objects (is the disk full?)", destination));
  return check(writer->commit(writer.get(), &sink.progress),
               "cannot finish the pack (is the disk full?)", destination);
}

}  // namespace store::git
