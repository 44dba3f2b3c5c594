#include <set>

#include "hypotheses/yaml.h"
#include "web/api/site.h"
#include "web/api/test_site.h"

namespace web {

using Pair = std::pair<std::string, std::string>;  // "GET", "/api/v1/campaigns"

static std::set<Pair> described(TestSite& site) {
  auto file = site.client().Get("/api/v1/openapi.yaml");
  REQUIRE(file);
  REQUIRE(file->status == 200);
  auto document = hypotheses::YamlDocument::parse(file->body, "openapi.yaml");
  std::set<Pair> pairs;
  const auto paths = document.root().at("paths");
  for (const std::string& path : paths.keys()) {
    for (const std::string& method : paths.at(path).keys()) {
      if (method == "get") pairs.emplace("GET", path);
      if (method == "post") pairs.emplace("POST", path);
    }
  }
  INFO(hypotheses::to_text(document.mistakes()));
  CHECK(document.mistakes().empty());
  return pairs;
}

TEST_CASE("openapi.yaml describes the routes that are served, all of them and no others") {
  TestSite site;
  std::set<Pair> served;
  for (const Route& route : api_routes()) {
    served.emplace(std::string(route.method), std::string(route.pattern));
  }
  CHECK(described(site) == served);
}

// Something that exists for each name in a path.
static std::string filled(std::string path) {
  const std::vector<Pair> things = {
      {"campaigns/{id}", "campaigns/C-1"},   {"nights/{id}", "nights/N-1"},
      {"hypotheses/{id}", "hypotheses/H-1"}, {"experiments/{id}", "experiments/E-3"},
      {"merges/{id}", "merges/M-1"},         {"{run}/{name}", "R-5/base.out"}};
  for (const auto& [name, thing] : things) {
    if (auto at = path.find(name); at != std::string::npos) path.replace(at, name.size(), thing);
  }
  return path;
}

TEST_CASE("each described route answers") {
  TestSite site;
  REQUIRE(base::ensure_folder(site.folder / "artifacts/E-3/0"));
  REQUIRE(base::write_file_atomically(site.folder / "artifacts/E-3/0/base.out", "x"));
  const std::map<std::string, std::string> bodies = {
      {"/api/v1/campaigns", R"({"name": "n", "target": "t", "goal": "m"})"},
      {"/api/v1/hypotheses", R"({"campaign": "C-1", "claim": "c", "prediction": "m -4%"})"},
      {"/api/v1/merges/{id}/reject", R"({"reason": "r"})"}};
  auto client = site.client();
  for (const auto& [method, pattern] : described(site)) {
    const std::string path = filled(pattern);
    INFO(method << " " << path);
    if (path == "/api/v1/events") continue;  // does not end; events_test.cc
    const auto body = bodies.find(pattern);
    auto answer = method == "GET"
                      ? client.Get(path)
                      : client.Post(path, site.token(), body == bodies.end() ? "{}" : body->second,
                                    "application/json");
    REQUIRE(answer);
    INFO(answer->body.substr(0, 300));
    CHECK((answer->status == 200 || (method == "POST" && answer->status == 201)));
  }
}

}  // namespace web
