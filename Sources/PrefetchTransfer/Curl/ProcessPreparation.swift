internal import CCurl
internal import Glibc
package import PrefetchCore

extension CurlTransport {
  /// Readies libcurl for the whole process; called once, before there is a second thread.
  ///
  /// What would let the environment weaken TLS, write keys to a file, load code or bend name
  /// lookups is taken out of it first, since the libraries read it behind our back.
  package static func prepareProcess() throws(Failure) {
    let names = [
      "SSLKEYLOGFILE", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "HOSTALIASES",
      "RES_OPTIONS", "LOCALDOMAIN",
    ]
    for name in names {
      unsafe unsetenv(name)
    }
    guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else {
      throw Failure(.internal, "libcurl could not be initialised")
    }
  }
}
