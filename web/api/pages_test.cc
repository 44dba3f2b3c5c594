#include "web/api/test_site.h"

namespace web {

static std::string page_of(TestSite& site, const std::string& path,
                           const httplib::Headers& headers = {}) {
  auto answer = site.client().Get(path, headers);
  REQUIRE(answer);
  INFO(path);
  CHECK(answer->status == 200);
  CHECK(answer->get_header_value("Content-Type") == "text/html; charset=utf-8");
  return answer->body;
}

static bool has(const std::string& page, const std::string& part) {
  return page.find(part) != std::string::npos;
}

// Tags that were opened and not closed, or the other way round; the void ones aside.
static std::string unbalanced(const std::string& page) {
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const std::size_t end = page.find_first_of(" >/", at + 2);
    const bool closing = page[at + 1] == '/';
    const std::string name = page.substr(at + 1 + closing, end - at - 1 - closing);
    const std::size_t close = page.find('>', at);
    if (name.starts_with("!") || page[close - 1] == '/') continue;
    if (name == "meta" || name == "link" || name == "input" || name == "img") continue;
    if (!closing) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> at " + std::to_string(at);
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

static const std::vector<std::string> kPages = {"/",
                                                "/nights",
                                                "/report/N-1",
                                                "/report/N-2",
                                                "/campaigns/C-1",
                                                "/hypotheses",
                                                "/hypotheses/H-1",
                                                "/hypotheses/H-3",
                                                "/hypotheses/H-4",
                                                "/hypotheses/H-7",
                                                "/experiments/E-1",
                                                "/experiments/E-3",
                                                "/experiments/E-7",
                                                "/merges",
                                                "/merges/M-1",
                                                "/login"};

TEST_CASE("every page is whole and escapes what others wrote") {
  TestSite site;
  Session session(site, "<script>alert(3)</script>");
  for (const std::string& path : kPages) {
    for (const httplib::Headers& headers : {httplib::Headers{}, session.headers()}) {
      const std::string page = page_of(site, path, headers);
      INFO(path);
      CHECK(unbalanced(page) == "");
      CHECK_FALSE(has(page, "<script>"));
      CHECK_FALSE(has(page, "<img src=x"));
      CHECK_FALSE(has(page, " style="));
      CHECK_FALSE(has(page, "=\"nan"));
    }
  }
  CHECK(has(page_of(site, "/hypotheses/H-3"), "&lt;script&gt;alert(1)&lt;/script&gt;"));
  CHECK(
      has(page_of(site, "/hypotheses?q=%22%3E%3Cscript%3E"), "value=\"&quot;&gt;&lt;script&gt;\""));
}

TEST_CASE("pages of an empty store say what to do") {
  TestSite site({}, false);
  CHECK(has(page_of(site, "/"), "nightshift campaign create"));
  CHECK(has(page_of(site, "/merges"), "Nothing to merge"));
  CHECK(has(page_of(site, "/nights"), "No night has run yet"));
  CHECK(has(page_of(site, "/hypotheses"), "None here"));
}

TEST_CASE("a hypothesis shows its way from claim to verdict") {
  TestSite site;
  const std::string page = page_of(site, "/hypotheses/H-1");
  for (const char* part :
       {"A v_tile of 128", "kda_decode.time{batch=1} -40%", "not asked", "chosen",
        "1% of 4% share needs 900 pairs; the cap is 40", "class=\"chart pairs\"",
        "href=\"/experiments/E-3\"", "class=\"chart supported\""}) {
    INFO(part);
    CHECK(has(page, part));
  }
}

TEST_CASE("a merge page says what is not known, and who may decide") {
  TestSite site;
  const std::string page = page_of(site, "/merges/M-1");
  CHECK(has(page, "What is not known"));
  CHECK(has(page, "<p>Only the kernel was measured"));
  CHECK(has(page, "The effect on the whole engine was not measured."));
  CHECK(has(page, sample::kMerged));
  CHECK(has(page, "Sign in to approve or reject"));
  CHECK_FALSE(has(page, "action=\"/merges/M-1/approve\""));
  Session session(site);
  const std::string mine = page_of(site, "/merges/M-1", session.headers());
  CHECK(has(mine, "action=\"/merges/M-1/approve\""));
  CHECK(has(mine, session.csrf));

  // Engine evidence takes the warning away.
  const hypotheses::Answer carried{
      hypotheses::Question::carries_over, hypotheses::Verdict::supported, "faster", {}, {6}};
  site.commit({hypotheses::MergeAnswered{{1}, carried}});
  CHECK_FALSE(
      has(page_of(site, "/merges/M-1"), "The effect on the whole engine was not measured."));
}

TEST_CASE("forms command, errors are pages") {
  TestSite site;
  Session session(site);
  auto client = site.client();
  const auto post = [&](const std::string& path, httplib::Params fields) {
    fields.emplace("csrf", session.csrf);
    auto answer = client.Post(path, session.headers(), fields);
    REQUIRE(answer);
    return answer;
  };
  CHECK(post("/campaigns/C-1/start", {})->get_header_value("Location") == "/");
  CHECK(post("/campaigns/C-1/pause", {})->status == 303);
  CHECK(post("/campaigns/C-1/resume", {})->status == 303);
  CHECK(post("/campaigns/C-1/explode", {})->status == 404);
  CHECK(post("/merges/M-1/reject", {{"reason", "no"}})->get_header_value("Location") ==
        "/merges/M-1");
  CHECK(post("/merges/M-1/reject", {})->status == 400);
  CHECK(post("/merges/M-1/approve", {})->status == 400);
  site.inbox.answer_with([](const Command&) -> base::Result<Reply> {
    return base::fail(base::ErrorCode::conflict, "the base moved to <1a2b>");
  });
  auto moved = post("/merges/M-1/approve", {{"commit", sample::kMerged}});
  CHECK(moved->status == 409);
  CHECK(has(moved->body, "the base moved to &lt;1a2b&gt;"));
  CHECK(has(client.Get("/hypotheses/H-99")->body, "there is no H-99"));
  CHECK(client.Get("/hypotheses/H-99")->status == 404);
  CHECK(client.Get("/nowhere")->status == 404);
  auto out = post("/logout", {});
  CHECK(out->status == 303);
  CHECK(post("/campaigns/C-1/start", {})->get_header_value("Location").starts_with("/login"));
}

TEST_CASE("a diff is shown where the daemon can make one") {
  TestSite without;
  CHECK(without.client().Get("/hypotheses/H-1/diff")->status == 404);
  Options options;
  options.diff = [](const hypotheses::CommitId& base, const hypotheses::CommitId& candidate) {
    return base::Result<std::string>("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-" + base.brief() + "\n+<b>" +
                                     candidate.brief() + "\n");
  };
  TestSite site(std::move(options));
  CHECK(has(page_of(site, "/hypotheses/H-1"), "/hypotheses/H-1/diff"));
  CHECK(has(page_of(site, "/hypotheses/H-1/diff"),
            "<span class=\"added\">+&lt;b&gt;bbbbbbbbbb\n</span>"));
}

TEST_CASE("the page's files are cached by their content") {
  TestSite site;
  auto client = site.client();
  for (const auto& [path, type] : std::vector<std::pair<std::string, std::string>>{
           {"/style.css", "text/css; charset=utf-8"},
           {"/live.js", "text/javascript; charset=utf-8"},
           {"/moon.svg", "image/svg+xml"}}) {
    auto file = client.Get(path);
    REQUIRE(file);
    CHECK(file->status == 200);
    CHECK(file->get_header_value("Content-Type") == type);
    CHECK(has(file->get_header_value("Cache-Control"), "immutable"));
    CHECK(has(page_of(site, "/"), path + "?"));
  }
}

TEST_CASE("a page names the place in the log from which it has to be kept up to date") {
  TestSite site;
  const std::string page = page_of(site, "/");
  CHECK(has(page, "data-after=\"" + std::to_string(site.store.last_seq()) + "\""));
  CHECK(has(page, " hypothesis-opened "));
}

}  // namespace web
