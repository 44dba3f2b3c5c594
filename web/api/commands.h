// Commands as they come in: JSON bodies of the API.
#pragma once

#include <string>

#include "base/result.h"
#include "hypotheses/types.h"
#include "web/api/ports.h"

namespace web {

base::Result<CreateCampaign> create_campaign(const std::string& text);
base::Result<SetCampaignState> set_campaign_state(hypotheses::CampaignId id,
                                                  hypotheses::CampaignState state,
                                                  const std::string& text);
base::Result<StartNight> start_night(hypotheses::CampaignId id, const std::string& text);
base::Result<Propose> propose(const std::string& text);
base::Result<Approve> approve(hypotheses::MergeRequestId id, const std::string& text);
base::Result<Reject> reject(hypotheses::MergeRequestId id, const std::string& text);

// Empty, or 40 to 64 hexadecimal digits: an approval is of exactly one commit, so no abbreviations.
base::Status check_commit(const std::string& text);

}  // namespace web
