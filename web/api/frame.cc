// What stands around every page, and the pages that say no.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hypotheses/facts.h"
#include "web/api/pages.h"
#include "web/api/widgets.h"
#include "web/ui/assets.h"

namespace web {

namespace {

// Names of all events, for live.js: EventSource wants each by name.
template <std::size_t... I>
std::string kinds_of(std::index_sequence<I...>) {
  std::string kinds;
  ((kinds += std::string(hypotheses::kind_of(hypotheses::Fact(std::in_place_index<I>))) + " "),
   ...);
  return kinds + "reset";
}

const std::string& all_kinds() {
  static const std::string kinds =
      kinds_of(std::make_index_sequence<std::variant_size_v<hypotheses::Fact>>());
  return kinds;
}

Html link_of(std::string_view href, std::string_view name, bool here) {
  return html("<a href=\"{}\"{}>{}</a>", href, here ? html(" aria-current=\"page\"") : Html(),
              name);
}

Html person(const Caller& caller) {
  if (!caller.by_session) return html("<a href=\"/login\">Sign in</a>");
  return html(
      "<form method=\"post\" action=\"/logout\">{}<span>{}</span>"
      "<button class=\"quiet\">Sign out</button></form>",
      csrf_field(caller), caller.name.empty() ? "signed in" : caller.name);
}

std::string whole(const Frame& frame, const Caller& caller, const std::string& version,
                  std::int64_t seq, const Html& content) {
  const std::string assets = ui::version();
  const auto nav = [&](std::string_view href, std::string_view section, std::string_view name) {
    return link_of(href, name, frame.section == section);
  };
  const Html live =
      frame.live ? html(" data-after=\"{}\" data-kinds=\"{}\"", seq, all_kinds()) : Html();
  return html(
             "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
             "<title>{} · Nightshift</title>"
             "<link rel=\"icon\" href=\"/moon.svg?{}\" type=\"image/svg+xml\">"
             "<link rel=\"stylesheet\" href=\"/style.css?{}\">"
             "<script src=\"/live.js?{}\" defer></script></head><body>"
             "<header class=\"top\"><a class=\"brand\" href=\"/\"><img src=\"/moon.svg?{}\" "
             "alt=\"\" "
             "width=\"22\" height=\"22\">Nightshift</a><nav>{}{}{}{}</nav>"
             "<div class=\"person\"><span class=\"live\" id=\"live\" hidden>live</span>{}</div>"
             "</header><main{}>{}</main><footer>Nightshift{}{} · <a href=\"/api/v1/openapi.yaml\">"
             "API</a> · <a href=\"/healthz\">Health</a> · <a href=\"/metrics\">Metrics</a></footer>"
             "</body></html>\n",
             frame.title, assets, assets, assets, assets, nav("/", "tonight", "Tonight"),
             nav("/hypotheses", "hypotheses", "Hypotheses"), nav("/merges", "merges", "Merges"),
             nav("/nights", "nights", "Nights"), person(caller), live, content,
             version.empty() ? "" : " ", version)
      .text();
}

Response html_response(std::string text, int status) {
  Response response;
  response.status = status;
  response.type = "text/html; charset=utf-8";
  response.body = std::move(text);
  return response;
}

}  // namespace

Html csrf_field(const Caller& caller) {
  return html("<input type=\"hidden\" name=\"csrf\" value=\"{}\">", caller.csrf);
}

// The place in the event log is read before the content: what comes in between is then shown twice
// rather than missed.
Response page(Site& site, const Call& call, Frame frame, const Content& content) {
  std::int64_t seq = 0;
  auto made = [&]() -> base::Result<Html> {
    NS_ASSIGN(reader, site.readers.take());
    NS_ASSIGN(overview, reader->overview());
    seq = overview.events;
    return content(*reader, frame);
  }();
  if (!made) return error_page(call, made.error());
  return html_response(whole(frame, call.caller, site.options.version, seq, *made), frame.status);
}

Response error_page(const Request&, const Caller& caller, int status, const std::string& message) {
  const std::string_view title = status == 404   ? "Not here"
                                 : status == 403 ? "Not allowed"
                                 : status == 409 ? "Changed meanwhile"
                                 : status == 503 ? "Not now"
                                                 : "That did not work";
  const Frame frame{.title = std::string(title), .section = "", .status = status, .live = false};
  const Html content =
      html("<h1>{}</h1><p class=\"lead\">{}</p><p><a href=\"/\">Back to tonight</a></p>", title,
           message);
  return html_response(whole(frame, caller, "", 0, content), status);
}

Response error_page(const Call& call, const base::Error& error) {
  return error_page(call.request, call.caller, http_status(error.code), error.text());
}

Response see_other(std::string path) {
  Response response;
  response.status = 303;
  response.headers.emplace_back("Location", std::move(path));
  return response;
}

Response sign_in_first(const Request& request) {
  const std::string next = request.method == "GET" ? request.target : "/";
  return see_other("/login?next=" + percent_encode(next));
}

}  // namespace web
