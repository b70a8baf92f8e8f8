internal import CCurl
internal import Glibc
package import PrefetchCore

extension CurlTransport {
  /// Removes variables that make libraries weaken TLS or load code; must be called first of all.
  package static func forgetEnvironment() {
    let names = [
      "SSLKEYLOGFILE", "OPENSSL_CONF", "OPENSSL_CONF_INCLUDE", "OPENSSL_MODULES",
      "OPENSSL_ENGINES", "CURL_SSL_BACKEND", "HOSTALIASES", "RES_OPTIONS", "LOCALDOMAIN",
      "SQLITE_TMPDIR",
    ]
    for name in names {
      unsafe unsetenv(name)
    }
  }

  /// Initialises libcurl; must be called once, before a second thread exists.
  package static func prepareProcess() throws(Failure) {
    forgetEnvironment()
    guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else {
      throw Failure(.internal, "libcurl could not be initialised")
    }
  }
}
