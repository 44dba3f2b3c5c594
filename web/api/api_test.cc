#include "web/api/test_site.h"

namespace web {

using nlohmann::json;

TEST_CASE("reads are views of the store") {
  TestSite site;
  const json campaigns = site.get("/api/v1/campaigns");
  CHECK(campaigns["items"].size() == 2);
  CHECK(site.get("/api/v1/campaigns/C-1")["nights"].size() == 2);
  CHECK(site.get("/api/v1/campaigns/2")["state"] == "paused");
  CHECK(site.get("/api/v1/nights")["items"][0]["id"] == "N-2");
  CHECK(site.get("/api/v1/nights?campaign=C-2")["items"].empty());

  const json h = site.get("/api/v1/hypotheses/H-1");
  CHECK(h["verdict"] == "supported");
  CHECK(h["effect"].get<double>() == Approx(0.5365));
  CHECK(h["interval"].size() == 2);
  CHECK_FALSE(h["effect_text"].get<std::string>().empty());
  CHECK(h["experiments"].size() == 3);
  CHECK(h["experiments"][2]["alternatives"].size() == 3);
  CHECK(site.get("/api/v1/hypotheses/1")["id"] == "H-1");

  const json e = site.get("/api/v1/experiments/E-3");
  CHECK(e["runs"].size() == 24);
  REQUIRE(e["pairs"].size() == 12);
  CHECK(e["pairs"][0]["attempt"] == 0);
  CHECK(e["pairs"][0]["log_ratio"].get<double>() < 0);

  const json m = site.get("/api/v1/merges/M-1");
  CHECK(m["state"] == "waiting");
  CHECK(m["merged"] == sample::kMerged);
  CHECK(m["approve"]["cli"] == "nightshift approve M-1 --commit " + sample::kMerged);
  CHECK(m["hypothesis"]["id"] == "H-1");
  CHECK(site.get("/api/v1/merges")["items"].size() == 1);

  CHECK(site.get("/api/v1/nights/N-1/report")["totals"]["hypotheses"] == 5);
  CHECK(site.get("/api/v1/hypotheses/H-1/explain")["steps"].size() > 5);
  CHECK(site.get("/api/v1/experiments/E-3/explain")["id"] == "E-3");
}

TEST_CASE("lists are filtered and paged") {
  TestSite site;
  json page = site.get("/api/v1/hypotheses?limit=3");
  CHECK(page["items"].size() == 3);
  CHECK(page["items"][0]["id"] == "H-7");
  CHECK(page["next"] == "H-5");
  page = site.get("/api/v1/hypotheses?limit=3&before=H-5");
  CHECK(page["items"][0]["id"] == "H-4");
  page = site.get("/api/v1/hypotheses?limit=3&before=H-2");
  CHECK(page["next"].is_null());
  CHECK(site.get("/api/v1/hypotheses?verdict=refuted")["items"].size() == 1);
  CHECK(site.get("/api/v1/hypotheses?night=N-2")["items"].size() == 2);
  CHECK(site.get("/api/v1/hypotheses?q=prefetching")["items"][0]["id"] == "H-2");
  // The search's own syntax is taken as words.
  CHECK(site.get("/api/v1/hypotheses?q=%22%20OR%20*%20NEAR(")["items"].empty());
}

TEST_CASE("what is not there or not understood says so") {
  TestSite site;
  auto client = site.client();
  const auto status = [&](const std::string& path) {
    auto answer = client.Get(path);
    REQUIRE(answer);
    const json body = json::parse(answer->body);
    CHECK_FALSE(body["error"]["message"].get<std::string>().empty());
    CHECK_FALSE(body["error"]["code"].get<std::string>().empty());
    return answer->status;
  };
  for (const char* path :
       {"/api/v1/hypotheses/H-99", "/api/v1/hypotheses/E-1", "/api/v1/hypotheses/0",
        "/api/v1/hypotheses/-1", "/api/v1/hypotheses/99999999999999999999", "/api/v1/experiments/x",
        "/api/v1/merges/M-9", "/api/v1/nights/N-9/report", "/api/v1/campaigns/C-9",
        "/api/v1/nothing", "/api/v1", "/api", "/api/v1/hypotheses/H-1/explain/x"}) {
    INFO(path);
    CHECK(status(path) == 404);
  }
  for (const char* path :
       {"/api/v1/hypotheses?verdict=good", "/api/v1/hypotheses?limit=0",
        "/api/v1/hypotheses?limit=501", "/api/v1/hypotheses?limit=x",
        "/api/v1/hypotheses?before=E-1", "/api/v1/hypotheses?verdit=x", "/api/v1/merges?q=x",
        "/api/v1/events?after=x", "/api/v1/events?after=-1", "/api/v1/hypotheses/H-1?x=1"}) {
    INFO(path);
    CHECK(status(path) == 400);
  }
}

TEST_CASE("other methods are refused with those that there are") {
  TestSite site;
  auto client = site.client();
  auto deleted = client.Delete("/api/v1/campaigns/C-1");
  REQUIRE(deleted);
  CHECK(deleted->status == 405);
  CHECK(deleted->get_header_value("Allow") == "GET, HEAD");
  CHECK(client.Get("/api/v1/merges/M-1/approve")->status == 405);
  CHECK(client.Put("/api/v1/campaigns", "{}", "application/json")->status == 405);
  CHECK(client.Options("/api/v1/campaigns")->status == 405);
  auto head = client.Head("/api/v1/campaigns");
  REQUIRE(head);
  CHECK(head->status == 200);
  CHECK(head->body.empty());
}

TEST_CASE("commands reach the inbox as they were meant") {
  TestSite site;
  CHECK(site.post("/api/v1/campaigns/C-1/pause", R"({"reason": "machine is busy"})") == 200);
  CHECK(site.post("/api/v1/campaigns/1/resume", "") == 200);
  CHECK(site.post("/api/v1/campaigns/C-1/cancel", "{}") == 200);
  CHECK(site.post("/api/v1/campaigns/C-1/start", "{}") == 200);
  CHECK(site.post("/api/v1/merges/M-1/reject", R"({"reason": "not now", "who": "Ada"})") == 200);
  CHECK(site.post("/api/v1/merges/M-1/approve", R"({"commit": ")" + sample::kMerged + "\"}") ==
        200);
  const auto commands = site.inbox.commands();
  REQUIRE(commands.size() == 6);
  const auto pause = std::get<SetCampaignState>(commands[0]);
  CHECK(pause.state == hypotheses::CampaignState::paused);
  CHECK(pause.reason == "machine is busy");
  CHECK(std::get<SetCampaignState>(commands[1]).state == hypotheses::CampaignState::active);
  CHECK(std::get<SetCampaignState>(commands[2]).state == hypotheses::CampaignState::cancelled);
  CHECK(std::get<StartNight>(commands[3]).campaign.value == 1);
  CHECK(std::get<Reject>(commands[4]).who == "Ada");
  CHECK(std::get<Approve>(commands[5]).commit.hex == sample::kMerged);
  CHECK(std::get<Approve>(commands[5]).who == "api");
}

TEST_CASE("the inbox's errors have their status") {
  TestSite site;
  using base::ErrorCode;
  const std::vector<std::pair<ErrorCode, int>> expected = {
      {ErrorCode::bad_input, 400}, {ErrorCode::refused, 403},     {ErrorCode::not_found, 404},
      {ErrorCode::conflict, 409},  {ErrorCode::unavailable, 503}, {ErrorCode::timeout, 503},
      {ErrorCode::io, 500},        {ErrorCode::bug, 500}};
  for (const auto& [code, status] : expected) {
    site.inbox.answer_with([code = code](const Command&) -> base::Result<Reply> {
      return base::fail(code, "the base moved");
    });
    CHECK(site.post("/api/v1/merges/M-1/approve", "{}") == status);
  }
  site.inbox.answer_with(
      [](const Command&) -> base::Result<Reply> { throw std::runtime_error("secret inside"); });
  auto thrown =
      site.client().Post("/api/v1/merges/M-1/approve", site.token(), "{}", "application/json");
  REQUIRE(thrown);
  CHECK(thrown->status == 500);
  CHECK(thrown->body.find("secret") == std::string::npos);
  CHECK_FALSE(thrown->has_header("EXCEPTION_WHAT"));
}

TEST_CASE("a loop that answers nobody does not take the pages with it") {
  TestSite site;
  std::mutex mutex;
  std::condition_variable changed;
  bool free = false;
  site.inbox.answer_with([&](const Command&) -> base::Result<Reply> {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return free; });
    return Reply{"C-1", "done"};
  });
  std::atomic<int> refused{0}, done{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 40; ++i) {
    callers.emplace_back([&] {
      auto answer =
          site.client().Post("/api/v1/campaigns/C-1/start", site.token(), "{}", "application/json");
      if (answer && answer->status == 503) ++refused;
      if (answer && answer->status == 200) ++done;
    });
  }
  CHECK(eventually([&] { return refused == 32; }));
  CHECK(site.client().Get("/healthz")->status == 200);
  {
    std::lock_guard lock(mutex);
    free = true;
  }
  changed.notify_all();
  for (std::thread& caller : callers) caller.join();
  CHECK(done == 8);
}

TEST_CASE("health follows the loop and the store") {
  std::atomic<bool> stuck{false};
  Options options;
  options.version = "1.2.3";
  options.stuck = [&] { return std::string(stuck ? "no step for 40 s" : ""); };
  TestSite site(std::move(options));
  const json well = site.get("/healthz");
  CHECK(well["ok"] == true);
  CHECK(well["version"] == "1.2.3");
  stuck = true;
  auto ill = site.client().Get("/healthz");
  REQUIRE(ill);
  CHECK(ill->status == 503);
  CHECK(json::parse(ill->body)["loop"] == "no step for 40 s");
}

TEST_CASE("metrics count what is recorded and asked for") {
  TestSite site;
  auto client = site.client();
  client.Get("/api/v1/hypotheses/H-99");
  auto answer = client.Get("/metrics");
  REQUIRE(answer);
  CHECK(answer->get_header_value("Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line :
       {"nightshift_hypotheses 7\n", "nightshift_nights 2\n",
        "# TYPE nightshift_events_total counter\n",
        "nightshift_http_requests_total{status=\"4xx\"} 1\n", "nightshift_event_viewers 0\n"}) {
    INFO(line);
    CHECK(answer->body.find(line) != std::string::npos);
  }
}

TEST_CASE("logs come from the run's own folder only") {
  TestSite site;
  const auto folder = site.folder / "artifacts/E-3/0";
  REQUIRE(base::ensure_folder(folder));
  REQUIRE(base::write_file_atomically(folder / "candidate.out", "<b>hello</b>\n"));
  REQUIRE(base::write_file_atomically(folder / "candidate.err", std::string(400'000, 'x')));
  REQUIRE(base::write_file_atomically(folder / "report.json", "{}"));
  REQUIRE(base::write_file_atomically(site.folder / "secret.out", "secret"));
  const auto runs = site.get("/api/v1/experiments/E-3")["runs"];
  std::string run;
  for (const json& candidate : runs) {
    if (candidate["attempt"] == 0 && candidate["side"] == "candidate") run = candidate["id"];
  }
  auto client = site.client();
  const std::string base = "/api/v1/experiments/E-3/artifacts/" + run + "/";
  auto out = client.Get(base + "candidate.out");
  REQUIRE(out);
  CHECK(out->status == 200);
  CHECK(out->body == "<b>hello</b>\n");
  CHECK(out->get_header_value("Content-Type") == "text/plain; charset=utf-8");
  CHECK(out->get_header_value("X-Content-Type-Options") == "nosniff");
  auto tail = client.Get(base + "candidate.err");
  REQUIRE(tail);
  CHECK(tail->body.size() < 270'000);
  CHECK(tail->body.starts_with("[the last 262144 of 400000 bytes]\n"));
  for (const char* name :
       {"base.out", "report.json", "nothing.out", "..%2F..%2F..%2Fsecret.out", "%2Fetc%2Fpasswd",
        "../candidate.out", "..", "candidate.out%00", "%2e%2e/%2e%2e/%2e%2e/secret.out"}) {
    INFO(name);
    auto refused = client.Get(base + name);
    REQUIRE(refused);
    CHECK(refused->status == 404);
    CHECK(refused->body.find("secret\n") == std::string::npos);
  }
  // A run of another experiment is none of this one's.
  CHECK(client.Get("/api/v1/experiments/E-4/artifacts/" + run + "/candidate.out")->status == 404);
  auto page = client.Get("/experiments/E-3");
  CHECK(page->body.find(base + "candidate.out") != std::string::npos);
}

}  // namespace web
