// What the policy lets go of, and what it never does.
#include "orchestrator/retention.h"

#include <catch2/catch.hpp>

#include "base/files.h"
#include "store/sample_facts.h"
#include "store/store.h"

namespace orchestrator {
namespace {

namespace fs = std::filesystem;
using namespace hypotheses;

constexpr std::int64_t kDayMs = 86'400'000;

// Three nights of one campaign a day apart, of two hypotheses and an experiment each; E-1 to E-6.
class World {
 public:
  explicit World(const std::string& retention, bool last_night_ends = true) {
    auto opened = store::Store::open(folder.path(), base::Durability::fast);
    REQUIRE(opened);
    store.emplace(std::move(*opened));
    Campaign campaign = store::sample::campaign(1);
    campaign.policy = retention.empty() ? "" : "retention: " + retention;
    record({CampaignCreated{campaign}});
    for (std::int64_t night = 1; night <= 3; ++night) {
      record({NightStarted{store::sample::night(night, 1)}});
      for (std::int64_t id : {2 * night - 1, 2 * night}) {
        Hypothesis hypothesis = store::sample::hypothesis(id, night);
        record({HypothesisOpened{hypothesis}});
        record(store::sample::finished_experiment(id, 10 * id, id, night, 2));
        REQUIRE(base::ensure_folder(files(id) / "0"));
        REQUIRE(base::write_file_atomically(files(id) / "0" / "stdout", std::string(1 << 20, 'x'),
                                            base::Durability::fast));
      }
      if (night < 3 || last_night_ends) {
        record({NightEnded{{night}, {night * kDayMs}, "the deadline"}});
      }
    }
  }

  void record(std::vector<Fact> facts) {
    auto stored = store->commit({{1}, std::move(facts), {}, {}});
    if (!stored) FAIL(stored.error().text());
  }
  void merge(MergeState state) {  // of H-2, in the first night
    record({MergeOpened{store::sample::merge(1, 2, 1)},
            MergeChanged{{1}, state, "", {}, {}, "", "", ""}});
  }
  fs::path files(std::int64_t experiment) const {
    return folder / "artifacts" / ExperimentId{experiment}.text();
  }

  // The experiments whose files are left after a sweep `days` after the first night.
  std::vector<int> left_after(double days) {
    auto swept = sweep_artifacts(folder.path(), {static_cast<std::int64_t>((1 + days) * kDayMs)});
    if (!swept) FAIL(swept.error().text());
    std::vector<int> left;
    for (int id = 1; id <= 6; ++id) {
      if (fs::exists(files(id))) left.push_back(id);
    }
    const int gone = swept->empty() ? 0 : swept->at({1}).experiments;
    CHECK(gone + std::ssize(left) == 6);
    if (gone > 0) CHECK(swept->at({1}).bytes == static_cast<std::uintmax_t>(gone) << 20);
    return left;
  }

  base::TempDir folder;
  std::optional<store::Store> store;
};

using Left = std::vector<int>;

}  // namespace

TEST_CASE("files go when their night is older than the policy says, not before") {
  CHECK(World("{artifacts_days: 7}").left_after(6.9) == Left{1, 2, 3, 4, 5, 6});
  CHECK(World("{artifacts_days: 7}").left_after(7.1) == Left{3, 4, 5, 6});
  CHECK(World("{artifacts_days: 7}").left_after(8.1) == Left{5, 6});
  CHECK(World("").left_after(29.9) == Left{1, 2, 3, 4, 5, 6});
  CHECK(World("").left_after(31.1) == Left{5, 6});
  CHECK(World("{artifacts_days: 0}").left_after(10'000) == Left{1, 2, 3, 4, 5, 6});
}

TEST_CASE("the newest night's files stay, and those of a night that runs") {
  CHECK(World("{artifacts_days: 1}").left_after(10'000) == Left{5, 6});
  CHECK(World("{artifacts_days: 1}", false).left_after(10'000) == Left{5, 6});
}

TEST_CASE("an experiment that runs keeps its files") {
  World world("{artifacts_days: 1}");
  Experiment running = store::sample::experiment(7, 1, 1);
  world.record({ExperimentStarted{running}});
  REQUIRE(base::ensure_folder(world.files(7)));
  CHECK(world.left_after(10'000) == Left{5, 6});
  CHECK(fs::exists(world.files(7)));
}

TEST_CASE(
    "a merge that may still land keeps its night's files, a landed one those of its evidence") {
  for (MergeState state : {MergeState::preparing, MergeState::measuring, MergeState::waiting}) {
    INFO(to_text(state));
    World world("{artifacts_days: 1}");
    world.merge(state);
    CHECK(world.left_after(10'000) == Left{1, 2, 5, 6});
  }
  for (MergeState state : {MergeState::rejected, MergeState::failed}) {
    World world("{artifacts_days: 1}");
    world.merge(state);
    CHECK(world.left_after(10'000) == Left{5, 6});
  }
  World kept("{artifacts_days: 1}");
  kept.merge(MergeState::landed);
  CHECK(kept.left_after(10'000) == Left{2, 5, 6});
  World let_go("{artifacts_days: 1, keep_merged: false}");
  let_go.merge(MergeState::landed);
  CHECK(let_go.left_after(10'000) == Left{5, 6});
}

TEST_CASE("above the size the oldest go first, but never what is needed") {
  const std::string three_mib = "{artifacts_days: 0, max_gib: 0.0029296875}";
  CHECK(World(three_mib).left_after(1) == Left{4, 5, 6});
  World waiting(three_mib);
  waiting.merge(MergeState::waiting);
  CHECK(waiting.left_after(1) == Left{1, 2, 5, 6});
}

TEST_CASE("what no recorded experiment has is left alone, and so is what a link leads to") {
  World world("{artifacts_days: 1}");
  const fs::path artifacts = world.folder / "artifacts";
  for (const char* foreign : {"E-99", "E-1.old", "notes", "E-01"}) {
    REQUIRE(base::ensure_folder(artifacts / foreign));
  }
  base::TempDir elsewhere;
  REQUIRE(base::write_file_atomically(elsewhere / "precious", "x"));
  fs::create_directory_symlink(elsewhere.path(), world.files(1) / "link");
  REQUIRE(base::remove_tree(world.files(2)));
  fs::create_directory_symlink(elsewhere.path(), world.files(2));
  auto swept = sweep_artifacts(world.folder.path(), {10'000 * kDayMs});
  REQUIRE(swept);
  CHECK_FALSE(fs::exists(world.files(1)));
  CHECK(fs::is_symlink(world.files(2)));
  CHECK(fs::exists(elsewhere / "precious"));
  for (const char* foreign : {"E-99", "E-1.old", "notes", "E-01"}) {
    CHECK(fs::exists(artifacts / foreign));
  }
}

}  // namespace orchestrator
