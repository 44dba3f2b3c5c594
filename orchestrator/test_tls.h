// An HTTPS endpoint whose certificate it signed itself, made anew for each test.
#pragma once

#include <httplib.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace orchestrator {

class SelfSignedEndpoint {
 public:
  SelfSignedEndpoint();
  ~SelfSignedEndpoint();

  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  int requests() const { return requests_; }

 private:
  std::atomic<int> requests_ = 0;
  std::unique_ptr<httplib::SSLServer> server_;
  int port_ = 0;
  std::jthread thread_;
};

}  // namespace orchestrator
