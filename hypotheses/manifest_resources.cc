// Reading what a probe's run has for itself, on this machine or on a Slurm cluster.
#include <algorithm>

#include "hypotheses/manifest_read.h"
#include "hypotheses/nearest.h"

namespace hypotheses {
namespace {

constexpr long kMostCores = 4096;
constexpr long kMostGpus = 64;

// It becomes the value of one option of sbatch.
std::string read_option(const YamlNode& node) {
  if (!node.present()) return "";
  std::string text = node.text().value_or("");
  const bool plain =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 127; });
  if (node.is_scalar() && (text.empty() || !plain))
    node.mistake("expected a value for sbatch, without spaces; found " + shown(text));
  return text;
}

SlurmResources read_slurm(const YamlNode& node) {
  SlurmResources slurm;
  node.keys({"partition", "constraint", "gres", "account", "qos", "time", "wait", "exclusive"});
  slurm.partition = read_option(node.at("partition"));
  slurm.constraint = read_option(node.at("constraint"));
  slurm.gres = read_option(node.at("gres"));
  slurm.account = read_option(node.at("account"));
  slurm.qos = read_option(node.at("qos"));
  slurm.time_s = read_timeout(node.at("time"), slurm.time_s);
  slurm.wait_s = read_timeout(node.at("wait"), slurm.wait_s);
  slurm.exclusive = node.at("exclusive").boolean().value_or(slurm.exclusive);
  return slurm;
}

}  // namespace

Resources read_resources(const YamlNode& node) {
  Resources resources;
  if (!node.present()) return resources;
  node.keys({"cores", "gpus", "slurm"});
  const auto read = [&](std::string_view key, long least, long most, int& out) {
    const std::optional<long> count = node.at(key).integer();
    if (!count) return;
    if (*count >= least && *count <= most) {
      out = static_cast<int>(*count);
    } else {
      node.at(key).mistake("expected " + std::to_string(least) + " to " + std::to_string(most) +
                           "; found " + std::to_string(*count));
    }
  };
  read("cores", 1, kMostCores, resources.cores);
  read("gpus", 0, kMostGpus, resources.gpus);
  if (const YamlNode slurm = node.at("slurm"); slurm.present()) resources.slurm = read_slurm(slurm);
  return resources;
}

// Both runs of a pair are one job; Slurm would end it before its second run had its time.
void check_slurm_time(const YamlNode& slurm, const Probe& probe) {
  if (!probe.resources.slurm || probe.resources.slurm->time_s <= 0) return;
  if (probe.resources.slurm->time_s >= 2 * probe.timeout_s) return;
  slurm.at("time").mistake(
      "both runs of a pair are one job: expected at least twice the probe's timeout, or no time");
}

}  // namespace hypotheses
