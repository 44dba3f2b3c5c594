#include "serving/api/api.h"

#include <array>
#include <nlohmann/json.hpp>

namespace serving {
namespace {

struct Route {
  std::string_view method, path;
};
constexpr std::array<Route, 7> kRoutes = {{
    {"POST", "/v1/completions"},
    {"POST", "/v1/chat/completions"},
    {"GET", "/v1/models"},
    {"GET", "/health"},
    {"GET", "/metrics"},
    {"POST", "/trace/start"},
    {"POST", "/trace/stop"},
}};

// Nothing where the route exists.
std::optional<HttpResponse> no_such_route(const HttpRequest& request) {
  for (const Route& route : kRoutes) {
    if (route.path != request.path) continue;
    if (route.method == request.method) return std::nullopt;
    HttpResponse refusal = error_response(
        {405, request.path + " takes " + std::string(route.method) + ", not " + request.method});
    refusal.headers.emplace_back("Allow", route.method);
    return refusal;
  }
  std::string known;
  for (const Route& route : kRoutes) known += (known.empty() ? "" : ", ") + std::string(route.path);
  return error_response({404, "there is no " + request.path + " here; there are " + known});
}

}  // namespace

Api::Api(Engine& engine, const Tokenizer& tokenizer, CompletionOptions options, TraceControl* trace)
    : engine_(engine),
      model_(options.model),
      trace_(trace),
      completions_(engine, tokenizer, std::move(options), metrics_) {}

void Api::handle(const HttpRequest& request, Reply& reply) {
  if (auto refusal = no_such_route(request)) return reply.send(*refusal);
  if (request.path == "/v1/completions") {
    completions_.answer(Endpoint::completions, request, reply);
  } else if (request.path == "/v1/chat/completions") {
    completions_.answer(Endpoint::chat, request, reply);
  } else if (request.path == "/v1/models") {
    reply.send(models());
  } else if (request.path == "/health") {
    reply.send({.body = R"({"status": "ok"})"});
  } else if (request.path == "/metrics") {
    reply.send({.body = metrics_.text(engine_.stats(), completions_.answering()),
                .type = "text/plain; version=0.0.4; charset=utf-8"});
  } else {
    reply.send(trace_route(request.path));
  }
}

HttpResponse Api::trace_route(const std::string& path) const {
  if (trace_ == nullptr) {
    return error_response({501, "this server records no timelines; start it with --trace FILE"});
  }
  if (path == "/trace/start") {
    const Status started = trace_->start();
    return started ? HttpResponse{.body = R"({"tracing": true})"}
                   : error_response(api_error(started.error()));
  }
  const auto file = trace_->stop();
  if (!file) return error_response(api_error(file.error()));
  return {.body = nlohmann::json({{"tracing", false}, {"file", *file}}).dump()};
}

HttpResponse Api::models() const {
  const nlohmann::json model = {{"id", model_},
                                {"object", "model"},
                                {"owned_by", "nightshift"},
                                {"max_model_len", engine_.shape().context}};
  return {
      .body =
          nlohmann::json({{"object", "list"}, {"data", nlohmann::json::array({model})}}).dump()};
}

}  // namespace serving
