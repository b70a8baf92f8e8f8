// Wrappers of function-like macros and of constants that they define: Swift cannot import them.
#pragma once
// The digest of names, below, uses functions that OpenSSL 3 calls old.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// SHA-256 without a provider: to find one costs a start more than to open both databases.
static inline void prefetch_sha256(const void *bytes, size_t count, unsigned char *digest) {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes, count);
  SHA256_Final(digest, &context);
}
static inline int prefetch_ssl_set_minimum_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}
static inline int prefetch_ssl_set_signatures(SSL_CTX *context, const char *list) {
  return SSL_CTX_set1_sigalgs_list(context, list);
}
static inline void prefetch_ssl_forbid_renegotiation(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
}
static inline void prefetch_ssl_require_fresh_keys(SSL_CTX *context) {
  SSL_CTX_clear_options(context, SSL_OP_ALLOW_NO_DHE_KEX);
}
static inline void prefetch_ssl_allow_old_servers(SSL_CTX *context, int allowed) {
  SSL_CTX_clear_options(context, SSL_OP_LEGACY_SERVER_CONNECT | SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION);
  if (allowed) SSL_CTX_set_options(context, SSL_OP_LEGACY_SERVER_CONNECT);
}
static inline void prefetch_ssl_keep_no_sessions(SSL_CTX *context) {
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}
static inline void prefetch_ssl_set_owner(SSL_CTX *context, void *owner) {
  SSL_CTX_set_app_data(context, owner);
}
static inline void *prefetch_ssl_owner(const SSL *session) {
  return SSL_CTX_get_app_data(SSL_get_SSL_CTX(session));
}
static inline int prefetch_certificate_count(const STACK_OF(X509) *chain) {
  return sk_X509_num(chain);
}
static inline X509 *prefetch_certificate(const STACK_OF(X509) *chain, int index) {
  return sk_X509_value(chain, index);
}
// Writes RFC 2253's form without escaping letters beyond ASCII.
static inline int prefetch_certificate_write_subject(const X509 *certificate, BIO *output) {
  unsigned long flags = XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB;
  return X509_NAME_print_ex(output, X509_get_subject_name(certificate), 0, flags);
}
static inline int prefetch_certificate_write_issuer(const X509 *certificate, BIO *output) {
  unsigned long flags = XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB;
  return X509_NAME_print_ex(output, X509_get_issuer_name(certificate), 0, flags);
}
