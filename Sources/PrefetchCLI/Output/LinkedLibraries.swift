import PrefetchCrypto
import PrefetchDocuments
import PrefetchServe
import PrefetchStore
import PrefetchTransfer

/// The libraries that this process runs with, for whoever reports a fault.
enum LinkedLibraries {
  static var all: [(name: String, version: String)] {
    let transfer = LibraryVersion()
    return [
      ("libcurl", transfer.curl),
      ("sqlite", SQLiteVersion.text),
      ("openssl", transfer.tls ?? "none"),
      ("libyaml", ParserVersions.yaml),
      ("expat", ParserVersions.expat),
      ("zlib", ZlibVersion.text),
      ("libmicrohttpd", MicroHTTPDVersion.text),
    ]
  }
}
