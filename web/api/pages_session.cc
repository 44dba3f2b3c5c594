// Signing in and out, the forms that command, and the files of web/ui.
#include "web/api/commands.h"
#include "web/api/pages.h"
#include "web/api/widgets.h"
#include "web/ui/assets.h"

namespace web {

using base::Result;
using namespace hypotheses;  // NOLINT

namespace {

// A path of ours, never another site's: "//evil.example" and "/\evil.example" are addresses too.
std::string own_path(const std::string& next) {
  const bool own = next.starts_with('/') && !next.starts_with("//") && !next.starts_with("/\\") &&
                   next.find_first_of("\r\n\t") == std::string::npos;
  return own ? next : "/";
}

Html sign_in_form(const std::string& next, const Html& trouble) {
  return html(
      "<h1>Sign in</h1><p class=\"lead\">Looking needs no sign-in on this machine; commands "
      "do.</p>{}"
      "<form class=\"card stack\" method=\"post\" action=\"/login\">"
      "<input type=\"hidden\" name=\"next\" value=\"{}\">"
      "<label>Token<input type=\"password\" name=\"token\" required autofocus "
      "autocomplete=\"current-password\"></label>"
      "<label>Your name, for the record<input name=\"name\" maxlength=\"80\" "
      "autocomplete=\"name\"></label><button class=\"primary\">Sign in</button></form>"
      "<p class=\"muted\">The token is in the file <code>token</code> of the daemon's state "
      "folder.</p>",
      trouble, next);
}

Response sign_in_response(Site& site, const Call& call, int status, const std::string& next,
                          const Html& trouble) {
  return page(
      site, call, {.title = "Sign in", .section = "", .status = status, .live = false},
      [&](const store::Reader&, Frame&) -> Result<Html> { return sign_in_form(next, trouble); });
}

// Runs a command from a form and goes back to the page that shows the outcome.
template <class T>
Response perform(Site& site, const Call& call, Result<T> command, std::string back) {
  if (!command) return error_page(call, command.error());
  auto reply = submit(site, Command(std::move(*command)));
  if (!reply) return error_page(call, reply.error());
  return see_other(std::move(back));
}

std::string signer(const Caller& caller) { return caller.name.empty() ? "web" : caller.name; }

Response file_response(std::string body, std::string type) {
  Response response;
  response.type = std::move(type);
  response.body = std::move(body);
  // Their URLs change with their content.
  response.headers.emplace_back("Cache-Control", "public, max-age=31536000, immutable");
  return response;
}

}  // namespace

Response sign_in_page(Site& site, const Call& call) {
  auto next = call.request.query.find("next");
  return sign_in_response(site, call, 200,
                          own_path(next == call.request.query.end() ? "/" : next->second), {});
}

Response sign_in(Site& site, const Call& call) {
  auto fields = parse_form(call.request.body);
  const std::string next = own_path(fields["next"]);
  auto cookie = site.access->sign_in(fields["token"], fields["name"].substr(0, 80));
  if (!cookie) {
    return sign_in_response(site, call, 401, next,
                            notice("warn", html("That is not this daemon's token.")));
  }
  return see_other(next).with("Set-Cookie", std::move(*cookie));
}

Response sign_out(Site& site, const Call& call) {
  return see_other("/").with("Set-Cookie", site.access->sign_out(call.request));
}

Response approve_form(Site& site, const Call& call) {
  auto fields = parse_form(call.request.body);
  return perform(
      site, call,
      [&]() -> Result<Approve> {
        NS_ASSIGN(id, path_id<MergeRequestId>(call));
        NS_TRY(check_commit(fields["commit"]));
        // From a page there is no "whichever waits now": what was looked at is what is approved.
        if (fields["commit"].empty())
          return base::fail(base::ErrorCode::bad_input, "commit: missing");
        return Approve{id, {fields["commit"]}, signer(call.caller)};
      }(),
      "/merges/" + call.parts[0]);
}

Response reject_form(Site& site, const Call& call) {
  auto fields = parse_form(call.request.body);
  return perform(
      site, call,
      [&]() -> Result<Reject> {
        NS_ASSIGN(id, path_id<MergeRequestId>(call));
        if (fields["reason"].empty())
          return base::fail(base::ErrorCode::bad_input, "reason: missing");
        return Reject{id, signer(call.caller), fields["reason"]};
      }(),
      "/merges/" + call.parts[0]);
}

Response campaign_form(Site& site, const Call& call) {
  const auto id = path_id<CampaignId>(call);
  if (!id) return error_page(call, id.error());
  const std::string reason = "asked for by " + signer(call.caller);
  const std::string& action = call.parts[1];
  if (action == "start") return perform(site, call, Result<StartNight>(StartNight{*id}), "/");
  if (action == "pause") {
    return perform(site, call, Result<SetCampaignState>({*id, CampaignState::paused, reason}), "/");
  }
  if (action == "resume") {
    return perform(site, call, Result<SetCampaignState>({*id, CampaignState::active, reason}), "/");
  }
  return error_page(call.request, call.caller, 404, "there is nothing at this address");
}

Response style_file(Site&, const Call&) {
  return file_response(ui::style_css(), "text/css; charset=utf-8");
}
Response script_file(Site&, const Call&) {
  return file_response(ui::live_js(), "text/javascript; charset=utf-8");
}
Response icon_file(Site&, const Call&) { return file_response(ui::moon_svg(), "image/svg+xml"); }

static constexpr Route kPageRoutes[] = {
    {"GET", "/", Guard::read, tonight_page},
    {"GET", "/nights", Guard::read, nights_page},
    {"GET", "/report/{id}", Guard::read, report_page},
    {"GET", "/campaigns/{id}", Guard::read, campaign_page},
    {"POST", "/campaigns/{id}/{action}", Guard::form, campaign_form},
    {"GET", "/hypotheses", Guard::read, hypotheses_page},
    {"GET", "/hypotheses/{id}", Guard::read, hypothesis_page},
    {"GET", "/hypotheses/{id}/diff", Guard::read, diff_page},
    {"GET", "/experiments/{id}", Guard::read, experiment_page},
    {"GET", "/merges", Guard::read, merges_page},
    {"GET", "/merges/{id}", Guard::read, merge_page},
    {"POST", "/merges/{id}/approve", Guard::form, approve_form},
    {"POST", "/merges/{id}/reject", Guard::form, reject_form},
    {"GET", "/login", Guard::open, sign_in_page},
    {"POST", "/login", Guard::open, sign_in},
    {"POST", "/logout", Guard::form, sign_out},
    {"GET", "/style.css", Guard::open, style_file},
    {"GET", "/live.js", Guard::open, script_file},
    {"GET", "/moon.svg", Guard::open, icon_file},
};

std::span<const Route> page_routes() { return kPageRoutes; }

}  // namespace web
