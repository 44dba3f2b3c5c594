// Commit messages: a subject, a body, and trailers that the daemon reads back.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace store::git {

using Trailers = std::vector<std::pair<std::string, std::string>>;

// Everything a commit's id depends on besides its trees and parents: the same text gives the same
// commit, so that an effect that is performed twice after a crash makes one commit.
struct CommitText {
  std::string subject;  // one line
  std::string body;     // may be empty
  Trailers trailers;    // "Hypothesis", "H-12"; each value on one line
  std::string author_name;
  std::string author_email;
  base::Instant time;  // recorded in whole seconds, UTC
};

base::Result<std::string> compose(const CommitText& text);

// The trailers at the end of a message, in order; empty when there are none.
base::Result<Trailers> trailers_of(const std::string& message);

}  // namespace store::git
