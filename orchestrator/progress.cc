#include "orchestrator/progress.h"

#include <fmt/format.h>

#include <vector>

namespace orchestrator {

using namespace hypotheses;  // the facts are this file's subject

namespace {

using Line = std::optional<std::string>;

std::string sentence(const std::string& text, std::size_t limit = 160) {
  std::string line = text.substr(0, text.find('\n'));
  if (line.size() <= limit) return line;
  std::size_t end = limit - 3;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return line.substr(0, end) + "...";
}

struct LineOf {
  Line operator()(const NightStarted& f) const {
    return fmt::format("{} starts on {} at {}", f.night.id.text(), f.night.base.brief(),
                       to_text(f.night.started));
  }
  Line operator()(const NightEnded& f) const {
    return fmt::format("{} ends: {}", f.night.text(), f.reason);
  }
  Line operator()(const NoiseMeasured& f) const {
    return fmt::format("  A/A: {} differs from itself by {:.1f}% a pair ({} pairs)", to_text(f.key),
                       100 * f.noise, f.pairs);
  }
  Line operator()(const TimelineRead& f) const {
    return fmt::format("  timeline of {}: {}", to_text(f.key), sentence(f.reason));
  }
  Line operator()(const HypothesisOpened& f) const {
    return fmt::format("{} {}", f.hypothesis.id.text(), sentence(f.hypothesis.claim));
  }
  Line operator()(const QuestionAnswered& f) const {
    std::string what(to_text(f.answer.question));
    if (f.answer.question == Question::guards && f.answer.evidence) {
      what = "guard " + to_text(f.answer.evidence->key);
    }
    return fmt::format("    {}: {}; {}", what, to_text(f.answer.verdict),
                       sentence(f.answer.reason));
  }
  Line operator()(const HypothesisDecided& f) const {
    return fmt::format("  {} {}: {}", f.hypothesis.text(), to_text(f.verdict), sentence(f.reason));
  }
  Line operator()(const IncumbentChosen& f) const {
    if (!f.hypothesis) return "  back to the base branch";
    return fmt::format("  {} is what the next ones build on", f.hypothesis.text());
  }
  Line operator()(const ProposalRefused& f) const {
    return fmt::format("  refused: {} ({})", sentence(f.proposal), sentence(f.reason));
  }
  Line operator()(const TargetFetched& f) const {
    if (f.branches.empty()) return {};
    std::string names;
    for (const auto& read : f.branches) names += (names.empty() ? "" : ", ") + read.branch;
    return fmt::format("  pushed: {}", names);
  }
  Line operator()(const MergeOpened& f) const {
    return fmt::format("{} merges {} with the base, to be measured from a fresh build",
                       f.merge.id.text(), f.merge.hypothesis.text());
  }
  Line operator()(const MergeAnswered& f) const {
    std::string what(to_text(f.answer.question));
    if (f.answer.question == Question::guards && f.answer.evidence) {
      what = "guard " + to_text(f.answer.evidence->key);
    }
    return fmt::format("    {}: {}; {}", what, to_text(f.answer.verdict),
                       sentence(f.answer.reason));
  }
  Line operator()(const MergeChanged& f) const {
    std::string line = fmt::format("  {} {}", f.merge.text(), to_text(f.state));
    return f.reason.empty() ? line : line + ": " + sentence(f.reason);
  }
  Line operator()(const MergeApproved& f) const {
    return fmt::format("  {} approved by {} at {}", f.merge.text(), f.who, f.commit.brief());
  }
  Line operator()(const CampaignChanged& f) const {
    return fmt::format("{} is {}: {}", f.campaign.text(), to_text(f.state), f.reason);
  }
  Line operator()(const Noted& f) const { return "  note: " + f.text; }
  template <class Other>
  Line operator()(const Other&) const {
    return {};
  }
};

}  // namespace

std::optional<std::string> line_of(const Fact& fact) { return std::visit(LineOf{}, fact); }

Progress::Progress(const std::filesystem::path& state, std::int64_t after, std::ostream& out,
                   bool live)
    : seq_(after), out_(out), live_(live) {
  if (auto reader = store::Reader::open(state)) reader_.emplace(std::move(*reader));
}

void Progress::update() {
  constexpr int kBatch = 500;
  if (!reader_) return;
  for (;;) {
    auto events = reader_->events_after(seq_, kBatch);
    if (!events) return;
    for (const store::Event& event : *events) {
      show(event.fact);
      seq_ = event.seq;
    }
    if (static_cast<int>(events->size()) < kBatch) return;
  }
}

void Progress::clear_live() {
  if (live_ && !running_.empty()) out_ << "\r\x1b[2K";
}

void Progress::show(const Fact& fact) {
  if (auto line = line_of(fact)) {
    clear_live();
    out_ << *line << std::endl;
  }
  if (const auto* started = std::get_if<ExperimentStarted>(&fact)) {
    const Experiment& e = started->experiment;
    running_ = fmt::format("    {} {} by {}", e.id.text(), to_text(e.question), e.probe);
    attempts_ = 0;
  } else if (std::holds_alternative<ExperimentFinished>(fact)) {
    clear_live();
    running_.clear();
  } else if (const auto* run = std::get_if<RunRecorded>(&fact)) {
    attempts_ = run->run.attempt + 1;
  }
  if (live_ && !running_.empty()) {
    out_ << "\r\x1b[2K" << running_ << ", pair " << attempts_ << std::flush;
  }
}

}  // namespace orchestrator
