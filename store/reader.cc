#include "store/reader.h"

#include <fmt/format.h>

#include "store/backup.h"
#include "store/reader_impl.h"
#include "store/schema.h"

namespace store {

namespace {

constexpr const char* kCampaigns =
    "SELECT c.state, e.payload FROM campaigns c JOIN events e ON e.seq = c.created ";
constexpr const char* kNights =
    "SELECT n.state, n.ended_ms, n.reason, e.payload FROM nights n "
    "JOIN events e ON e.seq = n.started ";
constexpr const char* kJournal =
    "SELECT e.seq, e.at_ms, e.kind, e.payload FROM journal j JOIN events e ON e.seq = j.seq ";

base::Result<hypotheses::Campaign> campaign_at(const Connection& db, const Statement& row) {
  NS_ASSIGN(created, fact_at<hypotheses::CampaignCreated>(db, row, 1));
  NS_ASSIGN(state, row.word<hypotheses::CampaignState>(0));
  created.campaign.state = state;
  return std::move(created.campaign);
}

base::Result<hypotheses::Night> night_at(const Connection& db, const Statement& row) {
  NS_ASSIGN(started, fact_at<hypotheses::NightStarted>(db, row, 3));
  NS_ASSIGN(state, row.word<hypotheses::NightState>(0));
  started.night.state = state;
  started.night.ended = row.instant(1);
  started.night.reason = row.string(2);
  return std::move(started.night);
}

base::Result<Event> event_at(const Connection& db, const Statement& row) {
  NS_ASSIGN(fact, parse_fact(row.text(2), row.text(3), db));
  return Event{row.integer(0), row.instant(1), std::move(fact)};
}

}  // namespace

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

base::Result<Reader> Reader::open(const std::filesystem::path& folder) {
  const auto file = folder / kDatabaseFile;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return base::fail(base::ErrorCode::not_found,
                      "no database here; start the daemon once, or check the state folder",
                      file.string());
  }
  NS_ASSIGN(db, Connection::open(file, Connection::Mode::read_only));
  NS_ASSIGN(version, schema_version(db, kSchemaVersion));
  if (version < kSchemaVersion) {
    return base::fail(
        base::ErrorCode::conflict,
        fmt::format("the database has schema version {}, expected {}; start the daemon "
                    "once to upgrade it",
                    version, kSchemaVersion),
        file.string());
  }
  return Reader(std::make_unique<Impl>(Impl{std::move(db)}));
}

base::Result<std::vector<hypotheses::Campaign>> Reader::campaigns() const {
  auto& db = impl_->db;
  return all_rows(db.query(fmt::format("{} ORDER BY c.id", kCampaigns)),
                  [&](const Statement& row) { return campaign_at(db, row); });
}

base::Result<std::optional<hypotheses::Campaign>> Reader::campaign(
    hypotheses::CampaignId id) const {
  auto& db = impl_->db;
  return one_row(db.query(fmt::format("{} WHERE c.id = ?", kCampaigns), id),
                 [&](const Statement& row) { return campaign_at(db, row); });
}

base::Result<std::vector<hypotheses::Night>> Reader::nights(hypotheses::CampaignId campaign,
                                                            Page<hypotheses::NightId> page) const {
  auto& db = impl_->db;
  return all_rows(
      db.query(
          fmt::format("{} WHERE n.campaign = ? AND n.id < ? ORDER BY n.id DESC LIMIT ?", kNights),
          campaign, upper_end(page), page_size(page)),
      [&](const Statement& row) { return night_at(db, row); });
}

base::Result<std::optional<hypotheses::Night>> Reader::night(hypotheses::NightId id) const {
  auto& db = impl_->db;
  return one_row(db.query(fmt::format("{} WHERE n.id = ?", kNights), id),
                 [&](const Statement& row) { return night_at(db, row); });
}

base::Result<std::vector<Event>> Reader::journal(hypotheses::NightId night,
                                                 std::string_view kind) const {
  auto& db = impl_->db;
  return all_rows(
      db.query(fmt::format("{} WHERE j.night = ? AND j.kind = ? ORDER BY j.seq", kJournal), night,
               kind),
      [&](const Statement& row) { return event_at(db, row); });
}

base::Result<std::vector<Event>> Reader::journal(hypotheses::CampaignId campaign,
                                                 std::string_view kind) const {
  auto& db = impl_->db;
  return all_rows(db.query(fmt::format("{} WHERE j.night IS NULL AND j.campaign = ? AND j.kind = ? "
                                       "ORDER BY j.seq",
                                       kJournal),
                           campaign, kind),
                  [&](const Statement& row) { return event_at(db, row); });
}

base::Result<std::vector<hypotheses::PlannerTurn>> Reader::planner_turns(
    hypotheses::NightId night) const {
  NS_ASSIGN(events, journal(night, hypotheses::kind_of(hypotheses::PlannerSpoke{})));
  std::vector<hypotheses::PlannerTurn> turns;
  for (auto& event : events) {
    turns.push_back(std::get<hypotheses::PlannerSpoke>(std::move(event.fact)).turn);
  }
  return turns;
}

base::Result<std::vector<Event>> Reader::events_after(std::int64_t seq, int limit) const {
  std::vector<Event> events;
  NS_TRY(each_event(impl_->db, seq, std::clamp(limit, 1, kEventLimit), [&](const Event& event) {
    events.push_back(event);
    return base::Status();
  }));
  return events;
}

base::Result<Overview> Reader::overview() const {
  auto& db = impl_->db;
  NS_ASSIGN(snapshot, Transaction::begin(db, Transaction::Kind::read));
  NS_ASSIGN(campaigns, counted(db, "campaigns"));
  NS_ASSIGN(nights, counted(db, "nights"));
  NS_ASSIGN(hypotheses, counted(db, "hypotheses"));
  NS_ASSIGN(experiments, counted(db, "experiments"));
  NS_ASSIGN(runs, counted(db, "runs"));
  NS_ASSIGN(events, last_event(db));
  return Overview{campaigns, nights, hypotheses, experiments, runs, events};
}

base::Status Reader::backup_to(const std::filesystem::path& file) const {
  return back_up(impl_->db, file);
}

base::Status Reader::check() const { return check_integrity(impl_->db); }

}  // namespace store
