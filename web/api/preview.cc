// Serves the sample night on a port until it is ended: a developer's tool to look at the pages.
#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

#include "base/files.h"
#include "web/api/fake_inbox.h"
#include "web/api/sample_night.h"
#include "web/api/server.h"

int main(int argc, char** argv) {
  // Before any thread: they inherit it, so that only sigwait() below takes the signal.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  base::TempDir folder;
  auto store = store::Store::open(folder.path());
  if (!store) return fmt::print(stderr, "{}\n", store.error().text()), 1;
  const bool empty = argc > 2 && std::string_view(argv[2]) == "empty";
  if (!empty) {
    if (auto stored = store->commit(web::sample::commit()); !stored) {
      return fmt::print(stderr, "{}\n", stored.error().text()), 1;
    }
  }
  web::FakeInbox inbox;
  web::Server* running = nullptr;
  // A command leaves a note in the running night, so that live pages have something to show.
  inbox.answer_with([&](const web::Command&) -> base::Result<web::Reply> {
    const hypotheses::Noted note{{1}, {2}, "a command came in"};
    NS_TRY(store->commit({{1}, {note}, {}, {}}));
    running->notify(store->last_seq());
    return web::Reply{"C-1", "done"};
  });
  const base::SystemClock clock;
  web::Options options;
  options.port = argc > 1 ? std::atoi(argv[1]) : 0;
  options.state_folder = folder.path();
  options.token = "preview-token-of-no-secret";
  options.version = "preview";
  options.diff = [](const hypotheses::CommitId&, const hypotheses::CommitId&) {
    return base::Result<std::string>(
        "--- a/kernels/knobs.yaml\n+++ b/kernels/knobs.yaml\n@@ -1,3 +1,3 @@\n kda_decode:\n"
        "-  v_tile: 64\n+  v_tile: 128\n   unroll: 4\n");
  };
  auto server = web::Server::start(std::move(options), inbox, clock);
  if (!server) return fmt::print(stderr, "{}\n", server.error().text()), 1;
  running = server->get();
  fmt::print("{}\n", running->url());
  std::fflush(stdout);
  int which = 0;
  sigwait(&signals, &which);
  (*server)->stop();
  return 0;
}
