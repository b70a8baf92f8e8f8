/// A folder in which a segment's items appear under names that other tools look for.
package struct PublishingRules: Hashable, Sendable {
  package enum Layout: String, Hashable, Sendable, CaseIterable {
    case url
    case basename
    case npm
    case pip
    case go
    case bazel
    case cargo
    case yarn
    case hls

    /// Whether the tool that reads the tree also writes into it, which no stored body may suffer.
    package var isWrittenByTools: Bool {
      switch self {
      case .npm, .pip, .bazel, .yarn: true
      // What cargo adds lies beside the files that it reads, none of which it changes.
      case .url, .basename, .go, .cargo, .hls: false
      }
    }
  }

  package enum Link: String, Hashable, Sendable, CaseIterable {
    case auto
    case reflink
    case hardlink
    case copy
  }

  /// The times of the files.
  package enum Times: String, Hashable, Sendable, CaseIterable {
    /// When the file was made; a second name of a stored body has that body's time.
    case made
    /// What the server states in `Last-Modified`.
    case server
  }

  /// An absolute path.
  package var folder: String
  package var layout = Layout.url
  package var link = Link.auto
  /// Whether the whole tree changes in one moment, or not at all.
  package var isAtomic = false
  package var keptGenerations = 1
  package var times = Times.made
  /// Permission bits of the files; nil leaves them to how the files come.
  package var mode: UInt16?
  /// Whether files of the user's that are the items' own bytes become the tree's.
  package var adopts = false
  /// What precedes module paths in the URLs of layout `go`.
  package var goProxy: WebURL?
  /// Set for the folder of a mirror alone.
  package var mirror: MirrorRules?

  /// Whether times or modes are demanded that no stored body may get, so that no file can be a second
  /// name of one.
  package var needsOwnFiles: Bool { times != .made || mode != nil }

  package init(folder: String) {
    self.folder = folder
  }
}
