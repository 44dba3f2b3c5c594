#include "base/log.h"

#include <catch2/catch.hpp>

#include "base/files.h"

TEST_CASE("entries go to the file from the chosen level up, and a line break makes no new entry") {
  base::TempDir folder;
  std::string file = (folder / "log").string();
  REQUIRE(base::start_log({base::LogLevel::info, file}));
  base::log_debug("too small");
  base::log_info("one {braces} 100%");
  base::log_error("two\nthree");
  std::string text = base::read_file(file).value();
  REQUIRE(base::start_log({}));
  CHECK(text.find("too small") == std::string::npos);
  CHECK(text.find("info    one {braces} 100%\n") != std::string::npos);
  CHECK(text.find("error   two\n    three\n") != std::string::npos);
}

TEST_CASE("a log that cannot be written is an error, not an exception") {
  base::TempDir folder;
  auto status = base::start_log({base::LogLevel::info, folder.path().string()});
  REQUIRE_FALSE(status);
  CHECK(status.error().context == folder.path().string());
}
