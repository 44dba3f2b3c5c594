// The pages: server-rendered, whole without JavaScript; live.js only reloads them when something
// happened.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hypotheses/types.h"
#include "web/api/html.h"
#include "web/api/site.h"

namespace web {

// What stands around a page's content.
struct Frame {
  std::string title;
  std::string_view section;  // "tonight", "hypotheses", "merges", "nights", or ""
  int status = 200;
  bool live = true;  // reload the content when events come
};

// Makes the content, with a reader of its own; the content may still change the frame (its title).
using Content = std::function<base::Result<Html>(const store::Reader& reader, Frame& frame)>;
Response page(Site& site, const Call& call, Frame frame, const Content& content);
Response error_page(const Request& request, const Caller& caller, int status,
                    const std::string& message);
Response error_page(const Call& call, const base::Error& error);
// To the sign-in form, and back to where a GET wanted to go.
Response sign_in_first(const Request& request);
Response see_other(std::string path);

// The hidden field that each form of a session carries.
Html csrf_field(const Caller& caller);

// pages_*.cc
Response tonight_page(Site&, const Call&);
Response nights_page(Site&, const Call&);
Response campaign_page(Site&, const Call&);
Response hypotheses_page(Site&, const Call&);
Response hypothesis_page(Site&, const Call&);
Response diff_page(Site&, const Call&);
Response experiment_page(Site&, const Call&);
Response merges_page(Site&, const Call&);
Response merge_page(Site&, const Call&);
Response report_page(Site&, const Call&);
Response sign_in_page(Site&, const Call&);
Response sign_in(Site&, const Call&);
Response sign_out(Site&, const Call&);
Response approve_form(Site&, const Call&);
Response reject_form(Site&, const Call&);
Response campaign_form(Site&, const Call&);
Response style_file(Site&, const Call&);
Response script_file(Site&, const Call&);
Response icon_file(Site&, const Call&);

// Rows of hypotheses with badge, effect and cost; the bars share one scale.
Html hypothesis_table(const std::vector<hypotheses::Hypothesis>& hypotheses);
// One experiment in short: why, what was weighed, its pairs, its answer.
Html experiment_card(const hypotheses::Experiment& experiment,
                     const std::vector<hypotheses::Run>& runs);

// The id of the path's first {...}, or not_found: "H-7" or "7".
template <class Id>
base::Result<Id> path_id(const Call& call) {
  if (auto id = Id::parse(call.parts.at(0))) return *id;
  return base::fail(base::ErrorCode::not_found,
                    "\"" + call.parts.at(0) + "\" is no id such as " + Id{1}.text());
}

}  // namespace web
