// "/": what runs, what was found, what waits for a person. "/nights", "/campaigns/C-1".
#include <fmt/format.h>

#include <algorithm>

#include "web/api/pages.h"
#include "web/api/widgets.h"

namespace web {

using base::Result;
using namespace hypotheses;  // NOLINT: the page shows nearly all of it

Html hypothesis_table(const std::vector<Hypothesis>& hypotheses) {
  double reach = 0;
  for (const Hypothesis& h : hypotheses) {
    if (h.evidence) reach = std::max(reach, reach_of(effect_of(*h.evidence)));
  }
  const Html rows = each(hypotheses, [&](const Hypothesis& h) {
    const std::string verdict(h.verdict ? to_text(*h.verdict) : "");
    const Html effect =
        h.evidence ? measured_cell(effect_of(*h.evidence), verdict, reach)
                   : html("<span class=\"muted\">predicts {}</span>", to_text(h.prediction));
    return html(
        "<tr><td>{}</td><td class=\"claim\"><a href=\"/hypotheses/{}\">{}</a>"
        "<span class=\"reason\">{}</span></td><td>{}</td><td class=\"measured\">{}</td>"
        "<td class=\"number\">{}</td></tr>",
        hypothesis_link(h.id), h.id.text(), h.claim, h.reason, verdict_badge(h), effect,
        h.cost_s > 0 ? duration_text(h.cost_s) : "–");
  });
  return html(
      "<div class=\"scroll\"><table class=\"list\"><thead><tr><th>Id</th><th>Claim</th>"
      "<th>Verdict</th><th>Effect</th><th class=\"number\">Cost</th></tr></thead>"
      "<tbody>{}</tbody></table></div>",
      rows);
}

namespace {

Html campaign_button(const Caller& caller, const Campaign& campaign, std::string_view action,
                     std::string_view name) {
  return html("<form method=\"post\" action=\"/campaigns/{}/{}\">{}<button>{}</button></form>",
              campaign.id.text(), action, csrf_field(caller), name);
}

Html campaign_buttons(const Caller& caller, const Campaign& campaign) {
  if (!caller.by_session || campaign.state == CampaignState::cancelled) return {};
  if (campaign.state == CampaignState::paused) {
    return campaign_button(caller, campaign, "resume", "Resume");
  }
  return campaign_button(caller, campaign, "start", "Start a night") +
         campaign_button(caller, campaign, "pause", "Pause");
}

std::string schedule_text(const Campaign& campaign) {
  if (campaign.schedule.empty()) return "only when asked";
  return campaign.schedule + " (" + campaign.time_zone + ")";
}

Html campaign_card(const Campaign& campaign, const Caller& caller) {
  return html(
      "<section class=\"card\"><div class=\"card-head\"><h3><a href=\"/campaigns/{}\">{}</a></h3>{}"
      "<div class=\"actions\">{}</div></div>{}</section>",
      campaign.id.text(), campaign.name, badge(to_text(campaign.state)),
      campaign_buttons(caller, campaign),
      facts(
          {{"goal", campaign.goal.metric.empty() ? html("the manifest's")
                                                 : html("<code>{}</code>", to_text(campaign.goal))},
           {"target", html("<code>{}</code>", campaign.target)},
           {"branch", campaign.base.empty() ? Html() : html("<code>{}</code>", campaign.base)},
           {"planner", html("{}", campaign.planner)},
           {"runs", html("{}", schedule_text(campaign))}}));
}

Html night_card(const Night& night) {
  const bool running = night.state == NightState::running;
  return html(
      "<section class=\"card\"><div class=\"card-head\"><h3><a href=\"/report/{}\">{}</a></h3>"
      "{}<div class=\"actions\"><a class=\"button\" href=\"/report/{}\">Report</a></div></div>"
      "{}</section>",
      night.id.text(), night.id.text(), badge(to_text(night.state)), night.id.text(),
      facts({{"started", time_html(night.started)},
             {running ? "runs until" : "ended", time_html(running ? night.deadline : night.ended)},
             {"base", commit_html(night.base)},
             {"campaign", html("<a href=\"/campaigns/{}\">{}</a>", night.campaign.text(),
                               night.campaign.text())},
             {"why it ended", night.reason.empty() ? Html() : html("{}", night.reason)}}));
}

Html waiting_for_a_person(const std::vector<MergeRequest>& merges) {
  const Html waiting = each(merges, [](const MergeRequest& merge) {
    if (merge.state != MergeState::waiting) return Html();
    return html("<li>{} merges {} at {}: {} <a href=\"/merges/{}\">Look and decide</a></li>",
                merge_link(merge.id), hypothesis_link(merge.hypothesis), commit_html(merge.merged),
                merge.reason, merge.id.text());
  });
  if (waiting.empty()) return {};
  return notice("good", html("<strong>Waiting for you</strong><ul>{}</ul>", waiting));
}

Html running_now(const std::vector<Experiment>& experiments) {
  const Html rows = each(experiments, [](const Experiment& e) {
    if (e.state != ExperimentState::running) return Html();
    return html("<li>{} {} <strong>{}</strong> by {} <span class=\"muted\">{}</span></li>",
                experiment_link(e.id), hypothesis_link(e.hypothesis), to_text(e.question), e.probe,
                e.why);
  });
  if (rows.empty()) return {};
  return html("<h2>Running now</h2><ul class=\"plain-list\">{}</ul>", rows);
}

Html first_steps() {
  return empty_state(
      "No campaign yet",
      html("A campaign is a goal on a git repository with a <code>nightshift.yaml</code>. Make one "
           "with <code>nightshift campaign create</code>, or see the whole way once with "
           "<code>nightshift demo</code>."));
}

Result<Html> night_so_far(const store::Reader& reader, const Night& night) {
  store::HypothesisFilter filter;
  filter.night = night.id;
  NS_ASSIGN(found, reader.hypotheses(filter, {.before = {}, .limit = 50}));
  NS_ASSIGN(experiments, reader.experiments(night.id, {.before = {}, .limit = 20}));
  Html content = night_card(night) + running_now(experiments);
  content += html("<h2>Hypotheses</h2>");
  if (found.empty()) {
    content +=
        empty_state("Nothing proposed yet",
                    html("The planner's first proposals appear here "
                         "once the machine's noise has been measured. You can add your own with "
                         "<code>nightshift propose</code>."));
    return content;
  }
  content += hypothesis_table(found);
  if (found.size() == 50) {
    content +=
        html("<p><a href=\"/hypotheses?night={}\">All of this night</a></p>", night.id.text());
  }
  return content;
}

}  // namespace

namespace {

Html night_table(const std::vector<Night>& nights) {
  if (nights.empty()) {
    return empty_state("No night has run yet",
                       html("Start one with <code>nightshift campaign start C-1</code>."));
  }
  const Html rows = each(nights, [](const Night& night) {
    return html(
        "<tr><td><a class=\"id\" href=\"/report/{}\">{}</a></td>"
        "<td><a class=\"id\" href=\"/campaigns/{}\">{}</a></td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td><td class=\"reason\">{}</td></tr>",
        night.id.text(), night.id.text(), night.campaign.text(), night.campaign.text(),
        badge(to_text(night.state)), time_html(night.started), time_html(night.ended),
        commit_html(night.base), night.reason);
  });
  return html(
      "<div class=\"scroll\"><table class=\"list\"><thead><tr><th>Night</th><th>Campaign</th>"
      "<th>State</th><th>Started</th><th>Ended</th><th>Base</th><th>Why it ended</th></tr>"
      "</thead><tbody>{}</tbody></table></div>",
      rows);
}

}  // namespace

Response tonight_page(Site& site, const Call& call) {
  return page(
      site, call, {.title = "Tonight", .section = "tonight"},
      [&](const store::Reader& reader, Frame&) -> Result<Html> {
        NS_ASSIGN(campaigns, reader.campaigns());
        NS_ASSIGN(nights, nights_of(reader, {}, {.before = {}, .limit = 6}));
        NS_ASSIGN(merges, reader.merges({.before = {}, .limit = 50}));
        Html content = html("<h1>Tonight</h1>");
        if (campaigns.empty()) return content + first_steps();
        content += waiting_for_a_person(merges);
        if (nights.empty()) {
          content += empty_state(
              "No night has run yet",
              html("Start one on a campaign below (sign in first), or with <code>nightshift "
                   "campaign start {}</code>.",
                   campaigns.front().id.text()));
        } else {
          NS_ASSIGN(so_far, night_so_far(reader, nights.front()));
          content += so_far;
          nights.erase(nights.begin());
        }
        content += html("<h2>Campaigns</h2>");
        content += each(campaigns, [&](const Campaign& campaign) {
          return campaign_card(campaign, call.caller);
        });
        if (!nights.empty()) content += html("<h2>Earlier nights</h2>") + night_table(nights);
        return content;
      });
}

Response nights_page(Site& site, const Call& call) {
  return page(site, call, {.title = "Nights", .section = "nights"},
              [&](const store::Reader& reader, Frame&) -> Result<Html> {
                NS_ASSIGN(nights, nights_of(reader, {}, {.before = {}, .limit = 200}));
                return html("<h1>Nights</h1>{}", night_table(nights));
              });
}

Response campaign_page(Site& site, const Call& call) {
  return page(site, call, {.title = "Campaign", .section = ""},
              [&](const store::Reader& reader, Frame& frame) -> Result<Html> {
                NS_ASSIGN(id, path_id<CampaignId>(call));
                NS_ASSIGN(campaign, reader.campaign(id));
                if (!campaign) {
                  return base::fail(base::ErrorCode::not_found, "there is no " + id.text());
                }
                NS_ASSIGN(nights, reader.nights(id, {.before = {}, .limit = 50}));
                frame.title = campaign->name;
                Html content = html("<h1>{}</h1>{}<h2>Nights</h2>{}", campaign->name,
                                    campaign_card(*campaign, call.caller), night_table(nights));
                if (!campaign->policy.empty()) {
                  content += html("<h2>Policy</h2><pre class=\"code\">{}</pre>", campaign->policy);
                }
                return content;
              });
}

}  // namespace web
