// The LLM planner: one question to an OpenAI-compatible /v1/chat/completions, one step as JSON
// back.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "orchestrator/events.h"
#include "orchestrator/planner.h"
#include "policies/policy.h"

namespace orchestrator {

// Looks up an environment variable; injected so that tests need no real one.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Text of a file of the incumbent, for the prompt and to try edits on.
using ReadFile = std::function<base::Result<std::string>(const std::string& path)>;
using ListFiles = std::function<base::Result<std::vector<std::string>>()>;

struct LlmQuestion {
  PlannerView view;
  policies::Policy policy;
  int turn = 0;
  std::int64_t reserved_tokens = 0;
  ReadFile read_file;
  ListFiles list_files;
};

// Never fails as such: whatever goes wrong (no endpoint, time-out, 429, 5xx, cut or malformed
// answers, a step that is refused) is retried up to the policy's bound with the reason told to the
// model, and ends as `failure`. Tokens count as the endpoint reports them; an answer that reports
// none, or never came, counts as the reserve. The key goes into the request header and nowhere
// else; every turn of the transcript is redacted.
PlannerAnswered ask_llm(const LlmQuestion& question, const Environment& environment,
                        std::stop_token stop);

// The prompt: goal, incumbent, history, knobs, files, and the shape of the answer.
std::string system_prompt();
std::string user_prompt(const LlmQuestion& question);

// A step from the model's text: a JSON object, bare or in a fenced block. Unknown keys, wrong types
// and missing fields are refused, named.
base::Result<Step> parse_step(const std::string& text);

// `text` without `secret`, where that is long enough to be one.
std::string hide(std::string text, const std::string& secret);

// Besides, without anything that looks like a key or a token.
std::string redact(std::string text, const std::string& secret);

}  // namespace orchestrator
