// The routes of the server: the OpenAI API, /health, /metrics and /trace.
#pragma once

#include "serving/api/completions.h"
#include "serving/api/http.h"
#include "serving/api/metrics.h"

namespace serving {

// Starts and ends the recording of a timeline, for POST /trace/start and /trace/stop.
class TraceControl {
 public:
  virtual ~TraceControl() = default;
  virtual Status start() = 0;              // unavailable: one is under way
  virtual Result<std::string> stop() = 0;  // where the timeline was written; unavailable: none is
};

class Api {
 public:
  // All must outlive the Api. Without `trace` its routes answer 501.
  Api(Engine& engine, const Tokenizer& tokenizer, CompletionOptions options,
      TraceControl* trace = nullptr);

  void handle(const HttpRequest& request, Reply& reply);  // by any thread

 private:
  HttpResponse trace_route(const std::string& path) const;
  HttpResponse models() const;

  Engine& engine_;
  const std::string model_;
  TraceControl* trace_;
  Metrics metrics_;
  Completions completions_;
};

}  // namespace serving
