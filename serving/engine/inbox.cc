#include "serving/engine/inbox.h"

#include <string>
#include <utility>

namespace serving {

Result<SequenceId> Inbox::submit(Request request, std::shared_ptr<Channel> channel) {
  SequenceId id = 0;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return fail(ErrorCode::unavailable, "the engine is stopping");
    if (under_way_ >= limit_) {
      return fail(ErrorCode::overloaded, std::to_string(under_way_) +
                                             " requests are under way, as many as are accepted; " +
                                             "try again later");
    }
    ++under_way_;
    id = ++last_;
    mail_.submissions.push_back({id, std::move(request), std::move(channel)});
  }
  arrived_.notify_one();
  return id;
}

void Inbox::cancel(SequenceId id) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    mail_.cancelled.push_back(id);
  }
  arrived_.notify_one();
}

bool Inbox::receive(const std::stop_token& stop, bool idle, Mail& mail) {
  mail.submissions.clear();
  mail.cancelled.clear();
  std::unique_lock lock(mutex_);
  if (idle) {
    arrived_.wait(lock, stop,
                  [&] { return !mail_.submissions.empty() || !mail_.cancelled.empty(); });
  }
  std::swap(mail, mail_);
  closed_ = stop.stop_requested();
  return !closed_;
}

void Inbox::ended(int requests) {
  if (requests == 0) return;
  std::lock_guard lock(mutex_);
  under_way_ -= requests;
}

}  // namespace serving
