internal import CRelease
import PrefetchCore
import PrefetchCrypto
import PrefetchDocuments
import PrefetchServe
import PrefetchStore
import PrefetchTransfer

struct ToolVersions: Hashable, Sendable {
  static let name = "prefetch"
  static let version = PREFETCH_VERSION

  var libcurl: String
  var sqlite: String
  var openssl: String

  static var commit: String? { nonEmpty(unsafe String(cString: prefetch_commit())) }

  static var tag: String? { nonEmpty(unsafe String(cString: prefetch_tag())) }

  private static func nonEmpty(_ text: String) -> String? { text.isEmpty ? nil : text }
}

extension ToolVersions {
  static var libraries: [(name: String, version: String)] {
    [
      ("libcurl", linked.libcurl), ("sqlite", linked.sqlite), ("openssl", linked.openssl),
      ("libyaml", DocumentLibraries.yaml), ("expat", DocumentLibraries.expat),
      ("zlib", ZlibVersion.text), ("libmicrohttpd", LocalServer.libraryVersion),
      ("libidn2", InternationalName.libraryVersion),
    ]
  }

  static var linked: ToolVersions {
    let library = LibraryVersion()
    return ToolVersions(
      libcurl: library.curl,
      sqlite: SQLiteVersion.text,
      openssl: library.tls ?? "none"
    )
  }
}
