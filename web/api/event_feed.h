// Live events (server-sent events): the store's event log from a place on, without gaps, then as it
// grows.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "web/api/http.h"
#include "web/api/readers.h"

namespace web {

class EventFeed {
 public:
  EventFeed(ReaderPool& readers, int max_viewers) : readers_(readers), max_viewers_(max_viewers) {}

  // A stream of events after Last-Event-ID, else ?after=, else from now on. 503 when there are too
  // many viewers already, 400 for a place that is no number.
  Response open(const Request& request);

  // The store's last sequence number, after a commit. Thread-safe and quick.
  void notify(std::int64_t last_seq);
  void stop();  // ends all streams

  int viewers() const;
  int max_viewers() const { return max_viewers_; }

 private:
  struct Viewer;
  enum class Woken { by_event, by_time, to_stop };

  bool step(Viewer& viewer, Sink& sink);
  bool send_new(Viewer& viewer, Sink& sink);
  Woken wait(const Viewer& viewer);
  base::Result<std::int64_t> last_stored();

  ReaderPool& readers_;
  const int max_viewers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t last_seq_ = 0;  // guarded by mutex_
  int viewers_ = 0;            // guarded by mutex_
  bool stopping_ = false;      // guarded by mutex_
};

}  // namespace web
