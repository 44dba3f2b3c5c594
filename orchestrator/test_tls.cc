#include "orchestrator/test_tls.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <catch2/catch.hpp>

namespace orchestrator {

namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;
using Certificate = std::unique_ptr<X509, FreeCertificate>;

Certificate self_signed(EVP_PKEY* key) {
  constexpr long kHour_s = 3600;
  Certificate certificate(X509_new());
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHour_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kHour_s);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const auto* host = reinterpret_cast<const unsigned char*>("127.0.0.1");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, host, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  REQUIRE(X509_sign(certificate.get(), key, EVP_sha256()) > 0);
  return certificate;
}

}  // namespace

SelfSignedEndpoint::SelfSignedEndpoint() {
  Key key(EVP_EC_gen("P-256"));
  REQUIRE(key);
  Certificate certificate = self_signed(key.get());
  server_ = std::make_unique<httplib::SSLServer>(certificate.get(), key.get());
  REQUIRE(server_->is_valid());
  server_->Post(".*", [this](const httplib::Request&, httplib::Response& response) {
    ++requests_;
    response.set_content("{}", "application/json");
  });
  port_ = server_->bind_to_any_port("127.0.0.1");
  thread_ = std::jthread([this] { server_->listen_after_bind(); });
  while (!server_->is_running()) std::this_thread::yield();  // a stop before that would be lost
}

SelfSignedEndpoint::~SelfSignedEndpoint() { server_->stop(); }

}  // namespace orchestrator
