#include "web/api/server.h"

#include <fmt/format.h>
#include <sodium.h>

#include "web/api/listener.h"
#include "web/api/site.h"

namespace web {

using base::ErrorCode;

namespace {
// Threads for requests that come and go, besides those that live streams hold.
constexpr int kRequestThreads = 24;
}  // namespace

struct Server::Impl {
  explicit Impl(Options options, CommandInbox& inbox, const base::Clock& clock)
      : folder(options.state_folder),
        viewers(options.max_viewers),
        site{.options = std::move(options),
             .inbox = inbox,
             .clock = clock,
             .readers = ReaderPool(folder),
             .feed = EventFeed(site.readers, viewers),
             .counters = {},
             .artifacts = {},
             .access = {}} {}

  std::filesystem::path folder;
  int viewers;
  Site site;
  std::atomic<bool> ready{false};
  std::unique_ptr<Listener> listener;  // last: it stops before what it uses goes
};

base::Result<std::unique_ptr<Server>> Server::start(Options options, CommandInbox& inbox,
                                                    const base::Clock& clock) {
  if (sodium_init() < 0) return base::fail(ErrorCode::bug, "libsodium cannot start");
  if (options.token.size() < 16) {
    return base::fail(ErrorCode::bad_input, "the token is shorter than 16 characters", "--token");
  }
  const bool loopback = is_loopback(options.host);
  if (!loopback && !options.allow_remote) {
    return base::fail(ErrorCode::refused,
                      fmt::format("{} is not a loopback address: others could reach the daemon. "
                                  "Prefer an SSH tunnel, or add --allow-remote (then reads need "
                                  "the token too)",
                                  options.host),
                      "--host");
  }
  auto impl = std::make_unique<Impl>(std::move(options), inbox, clock);
  if (auto artifacts = store::Artifacts::open(impl->folder)) {
    impl->site.artifacts = std::move(*artifacts);
  }
  Impl* site_owner = impl.get();
  const Options& kept = impl->site.options;
  NS_ASSIGN(listener, Listener::start({.host = kept.host,
                                       .port = kept.port,
                                       .threads = kept.max_viewers + kRequestThreads},
                                      [site_owner](const Request& request) {
                                        // Between bind and the next lines of start() the cookie's
                                        // name is not known yet.
                                        if (!site_owner->ready) {
                                          return error_response(503, "unavailable", "starting");
                                        }
                                        return answer(site_owner->site, request);
                                      }));
  std::vector<std::string> hosts = kept.hosts;
  if (kept.host != "0.0.0.0" && kept.host != "::") hosts.push_back(kept.host);
  impl->site.access = std::make_unique<Access>(
      AccessOptions{kept.token, std::move(hosts), loopback, listener->port()}, clock);
  impl->listener = std::move(listener);
  impl->ready = true;
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { stop(); }

int Server::port() const { return impl_->listener->port(); }

std::string Server::url() const {
  const std::string& host = impl_->site.options.host;
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port());
}

void Server::notify(std::int64_t last_seq) { impl_->site.feed.notify(last_seq); }

void Server::stop() {
  impl_->site.feed.stop();
  impl_->listener->stop();
}

}  // namespace web
