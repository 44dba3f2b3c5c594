#include "base/lock_file.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "base/files.h"

using base::LockFile;

TEST_CASE("a second daemon on a state folder is refused and told who holds it") {
  base::TempDir folder;
  auto first = LockFile::acquire(folder.path(), {1796094245678});
  REQUIRE(first);
  auto second = LockFile::acquire(folder.path(), {0});
  REQUIRE_FALSE(second);
  CHECK(second.error().code == base::ErrorCode::conflict);
  CHECK(second.error().message.find("process " + std::to_string(::getpid())) != std::string::npos);
  CHECK(second.error().message.find("2026-12-01T03:04:05.678Z") != std::string::npos);
}

TEST_CASE("the lock is free again after its holder let go, and stays with it when moved") {
  base::TempDir folder;
  {
    auto first = LockFile::acquire(folder.path(), {0});
    REQUIRE(first);
    LockFile moved = std::move(*first);
    CHECK_FALSE(LockFile::acquire(folder.path(), {0}));
  }
  CHECK(LockFile::acquire(folder.path(), {0}));
}

TEST_CASE("the lock of a holder killed with SIGKILL is free at once") {
  base::TempDir folder;
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto lock = LockFile::acquire(folder.path(), {0});
    std::ofstream(folder / "held") << "x";
    for (;;) ::pause();
  }
  while (!std::filesystem::exists(folder / "held")) ::usleep(1000);
  CHECK_FALSE(LockFile::acquire(folder.path(), {0}));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(LockFile::acquire(folder.path(), {0}));
}

TEST_CASE("a link in place of the lock is refused") {
  base::TempDir folder;
  std::filesystem::create_symlink(folder / "elsewhere", folder / "lock");
  CHECK_FALSE(LockFile::acquire(folder.path(), {0}));
  CHECK_FALSE(std::filesystem::exists(folder / "elsewhere"));
}
