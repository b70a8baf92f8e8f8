internal import CRelease
import PrefetchCore
import PrefetchCrypto
import PrefetchDocuments
import PrefetchServe
import PrefetchStore
import PrefetchTransfer

/// The versions that a report and `--version` name.
struct ToolVersions: Hashable, Sendable {
  static let name = "prefetch"
  static let version = PREFETCH_VERSION

  var libcurl: String
  var sqlite: String
  var openssl: String

  /// What this was built from, where the build was told.
  static var commit: String? { told(unsafe String(cString: prefetch_commit())) }

  /// Of a release, which was built from the commit that carries it.
  static var tag: String? { told(unsafe String(cString: prefetch_tag())) }

  private static func told(_ text: String) -> String? { text.isEmpty ? nil : text }
}

extension ToolVersions {
  /// Every library that this process runs with.
  static var libraries: [(name: String, version: String)] {
    [
      ("libcurl", linked.libcurl), ("sqlite", linked.sqlite), ("openssl", linked.openssl),
      ("libyaml", DocumentLibraries.yaml), ("expat", DocumentLibraries.expat),
      ("zlib", ZlibVersion.text), ("libmicrohttpd", LocalServer.libraryVersion),
      ("libidn2", InternationalName.libraryVersion),
    ]
  }

  /// Those of the libraries that this process runs with.
  static var linked: ToolVersions {
    let library = LibraryVersion()
    return ToolVersions(
      libcurl: library.curl,
      sqlite: SQLiteVersion.text,
      openssl: library.tls ?? "none"
    )
  }
}
