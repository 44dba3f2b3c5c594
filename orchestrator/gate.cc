#include "orchestrator/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hypotheses/manifest.h"
#include "hypotheses/yaml.h"
#include "runners/copy_rate.h"

namespace orchestrator {

using base::ErrorCode;
using hypotheses::CommitId;
using hypotheses::Hypothesis;
using store::git::CommitText;
using store::git::FileChange;

namespace {

CommitText commit_text(std::string subject, std::string body, store::git::Trailers trailers,
                       base::Instant time) {
  return {std::move(subject), std::move(body),        std::move(trailers),
          "Nightshift",       "nightshift@localhost", time};
}

// A subject line of at most 72 bytes, cut at a character.
std::string brief(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  if (line.size() <= 72) return line;
  std::size_t end = 69;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return line.substr(0, end) + "...";
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  return text;
}

// The files that a change makes of the parent's: knobs set in place, edits applied.
base::Result<std::vector<FileChange>> files_of(const store::git::Mirror& mirror,
                                               const CandidateOrder& order) {
  const auto& change = order.hypothesis.change;
  std::map<std::string, std::string> files;
  auto text_of = [&](const std::string& path) -> base::Result<std::string> {
    auto found = files.find(path);
    if (found != files.end()) return found->second;
    return mirror.file_at(order.hypothesis.base, path);
  };
  for (const auto& setting : change.knobs) {
    auto knob = order.manifest->knobs.find(setting.knob);
    if (knob == order.manifest->knobs.end()) {
      return base::fail(ErrorCode::bad_input, "the manifest has no knob " + setting.knob);
    }
    NS_ASSIGN(text, text_of(knob->second.file));
    NS_ASSIGN(edited,
              hypotheses::set_scalar(text, knob->second.key, setting.value, knob->second.file));
    files[knob->second.file] = std::move(edited);
  }
  std::map<std::string, std::vector<hypotheses::Edit>> edits;
  for (const auto& edit : change.edits) edits[edit.path].push_back(edit);
  for (const auto& [path, list] : edits) {
    bool creates = list.size() == 1 && list.front().search.empty();
    base::Result<std::string> text = text_of(path);
    if (!text && !(creates && text.error().code == ErrorCode::not_found)) {
      return tl::unexpected(text.error());
    }
    NS_ASSIGN(edited, apply_edits(path, text.value_or(""), list));
    files[path] = std::move(edited);
  }
  std::vector<FileChange> changes;
  for (auto& [path, text] : files) changes.push_back({path, std::move(text)});
  return changes;
}

// Protected paths, as far as the change touches any. A knob may stand in a protected file: the
// daemon sets it, at one scalar, and nothing else of the file.
base::Status check_protected(const CandidateOrder& order, const std::vector<std::string>& paths) {
  std::vector<std::string> touched;
  for (const std::string& path : paths) {
    bool knob_file = std::any_of(
        order.hypothesis.change.knobs.begin(), order.hypothesis.change.knobs.end(),
        [&](const auto& setting) { return order.manifest->knobs.at(setting.knob).file == path; });
    if (!knob_file && order.manifest->is_protected(path)) touched.push_back(path);
  }
  if (touched.empty()) return {};
  return base::fail(ErrorCode::refused,
                    fmt::format("edits protected paths ({}): probes and the manifest come from the "
                                "base, a candidate cannot change how it is measured",
                                fmt::join(touched, ", ")),
                    order.hypothesis.id.text());
}

CommitText candidate_text(const Hypothesis& hypothesis) {
  return commit_text(brief(hypothesis.claim), "",
                     {{"Nightshift-Hypothesis", hypothesis.id.text()},
                      {"Nightshift-Claim", one_line(hypothesis.claim)},
                      {"Nightshift-Predicts", to_text(hypothesis.prediction)},
                      {"Nightshift-Origin", std::string(to_text(hypothesis.origin))}},
                     hypothesis.opened);
}

CommitText merge_text(const MergeOrder& order) {
  const Hypothesis& winner = order.winner;
  store::git::Trailers trailers;
  for (const Hypothesis& hypothesis : order.chain) {
    trailers.emplace_back("Nightshift-Hypothesis", hypothesis.id.text());
    trailers.emplace_back("Nightshift-Claim", one_line(hypothesis.claim));
    if (!hypothesis.evidence) continue;
    const auto& evidence = *hypothesis.evidence;
    trailers.emplace_back("Nightshift-Effect",
                          fmt::format("{} on {}", effect_text(evidence), to_text(evidence.key)));
    std::string experiments;
    for (const auto& answer : hypothesis.answers) {
      if (!answer.experiment) continue;
      experiments += (experiments.empty() ? "" : ", ") + answer.experiment.text();
    }
    if (!experiments.empty()) trailers.emplace_back("Nightshift-Evidence", experiments);
  }
  trailers.emplace_back("Nightshift-Candidate", order.merge.candidate.hex);
  trailers.emplace_back("Nightshift-Merge", order.merge.id.text());
  std::string body =
      "Found by experiments of the night; each effect below was measured against its "
      "parent.\nThis commit is what was built and measured against its first parent.";
  return commit_text(brief("Merge " + winner.id.text() + ": " + order.summary), std::move(body),
                     std::move(trailers), order.time);
}

bool limited_by_copying(const hypotheses::Manifest& manifest) {
  for (const auto& [name, probe] : manifest.probes) {
    for (const auto& [key, metric] : probe.metrics) {
      if (metric.limit && metric.limit->is_copy_rate) return true;
    }
  }
  return false;
}

base::Result<std::vector<PushedBranch>> pushed_branches(const store::git::Mirror& mirror) {
  NS_ASSIGN(branches, mirror.try_branches());
  std::vector<PushedBranch> pushed;
  for (auto& branch : branches) pushed.push_back({branch.name, branch.tip, branch.trailers});
  return pushed;
}

base::Result<CommitId> base_tip(const store::git::Mirror& mirror, const std::string& branch) {
  return mirror.landing_tip(branch);
}

}  // namespace

base::Result<Completion> Gate::open_night(const OpenNightOrder& order) {
  NS_ASSIGN(folder, folders_.of(order.campaign.target));
  {
    std::lock_guard lock(*folder->fetching);
    NS_TRY(folder->mirror.fetch());
  }
  // Workspaces of earlier patches are not needed any more; another campaign may be in one.
  for (const std::string& slot : folder->pool->slots()) {
    if (!slot.starts_with("patch-")) continue;
    base::Status removed;
    folder->slots->if_free(slot, [&] { removed = folder->pool->remove(slot); });
    NS_TRY(removed);
  }
  std::string branch = order.campaign.base.empty() ? "main" : order.campaign.base;
  NS_ASSIGN(tip, base_tip(folder->mirror, branch));
  auto manifest = folder->mirror.file_at(tip, hypotheses::kManifestFile);
  if (!manifest) {
    return base::fail(
        ErrorCode::not_found,
        fmt::format("{} has no {} at its root in {}; write one with `nightshift init`",
                    order.campaign.target, hypotheses::kManifestFile, tip.brief()),
        "branch " + branch);
  }
  NS_ASSIGN(parsed, hypotheses::read_manifest(*manifest, std::string(hypotheses::kManifestFile)));
  NS_ASSIGN(pushed, pushed_branches(folder->mirror));
  NS_ASSIGN(lacks, folder->mirror.lacks(tip));
  NightOpened opened{tip, *manifest, {}, {}, std::move(pushed), std::move(lacks)};
  for (const auto& [name, knob] : parsed.knobs) {
    NS_ASSIGN(text, folder->mirror.file_at(tip, knob.file));
    NS_ASSIGN(value, hypotheses::get_scalar(text, knob.key, knob.file));
    opened.settings[name] = value;
  }
  if (limited_by_copying(parsed)) opened.copy_rate = runners::copy_rate(clock_);
  return Completion{std::move(opened)};
}

base::Result<Completion> Gate::make_candidate(const CandidateOrder& order) {
  NS_ASSIGN(folder, folders_.of(order.target));
  const Hypothesis& hypothesis = order.hypothesis;
  auto& mirror = folder->mirror;
  if (hypothesis.change.empty()) {
    return Completion{CandidateReady{hypothesis.base, "", {}}};
  }
  CommitId commit;
  std::string branch = hypothesis.change.branch;
  if (hypothesis.change.commit) {
    commit = hypothesis.change.commit;
  } else if (!branch.empty()) {
    std::lock_guard lock(*folder->fetching);
    NS_TRY(mirror.fetch());
    NS_ASSIGN(tip, mirror.resolve("refs/remotes/target/" + branch));
    commit = tip;
  } else {
    NS_ASSIGN(changes, files_of(mirror, order));
    branch = "night/" + hypothesis.id.text();
    NS_ASSIGN(made,
              mirror.commit_files(hypothesis.base, changes, candidate_text(hypothesis), branch));
    commit = made;
  }
  NS_ASSIGN(paths, mirror.changed_paths(hypothesis.base, commit));
  NS_TRY(check_protected(order, paths));
  return Completion{CandidateReady{commit, branch, paths}};
}

base::Result<Completion> Gate::prepare_merge(const MergeOrder& order) {
  NS_ASSIGN(folder, folders_.of(order.target));
  {
    std::lock_guard lock(*folder->fetching);
    NS_TRY(folder->mirror.fetch());
  }
  NS_ASSIGN(tip, base_tip(folder->mirror, order.base_branch));
  NS_ASSIGN(outcome, folder->mirror.merge(tip, order.merge.candidate, merge_text(order),
                                          "night/" + order.merge.id.text()));
  if (const auto* conflicts = std::get_if<store::git::Conflicts>(&outcome)) {
    return Completion{MergeConflict{conflicts->paths}};
  }
  return Completion{MergeReady{tip, std::get<store::git::Merged>(outcome).commit}};
}

base::Result<Completion> Gate::land(const LandOrder& order) {
  NS_ASSIGN(folder, folders_.of(order.target));
  auto landing = folder->mirror.land(folder->mirror.target(), order.base_branch, order.merge.base,
                                     order.merge.merged);
  if (landing) return Completion{Landed{landing->landed_ref, landing->instruction}};
  if (landing.error().code != ErrorCode::conflict) return tl::unexpected(landing.error());
  std::lock_guard lock(*folder->fetching);
  NS_TRY(folder->mirror.fetch());
  NS_ASSIGN(tip, base_tip(folder->mirror, order.base_branch));
  return Completion{BaseMoved{tip}};
}

base::Result<Completion> Gate::fetch(const FetchOrder& order) {
  NS_ASSIGN(folder, folders_.of(order.target));
  std::lock_guard lock(*folder->fetching);
  NS_TRY(folder->mirror.fetch());
  NS_ASSIGN(pushed, pushed_branches(folder->mirror));
  return Completion{TargetRead{std::move(pushed)}};
}

}  // namespace orchestrator
