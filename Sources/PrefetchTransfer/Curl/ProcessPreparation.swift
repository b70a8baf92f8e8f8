internal import CCurl
internal import Glibc
package import PrefetchCore

extension CurlTransport {
  /// Takes out of the environment what would let it weaken TLS, write keys to a file, load code or
  /// bend name lookups, since libraries read it behind our back; called first of all.
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

  /// Readies libcurl for the whole process; called once, before there is a second thread.
  package static func prepareProcess() throws(Failure) {
    forgetEnvironment()
    guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else {
      throw Failure(.internal, "libcurl could not be initialised")
    }
  }
}
