/// Rules for a folder in which a segment's items have names that other tools look for.
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
    case hf

    /// Whether the tool that reads the tree also writes into it, so no file may be a stored body.
    package var isWrittenByTools: Bool {
      switch self {
      case .npm, .pip, .bazel, .yarn: true
      // cargo adds files beside those that it reads, and changes none of them.
      case .url, .basename, .go, .cargo, .hls, .hf: false
      }
    }
  }

  package enum Link: String, Hashable, Sendable, CaseIterable {
    case auto
    case reflink
    case hardlink
    case copy
  }

  package enum Times: String, Hashable, Sendable, CaseIterable {
    case made
    case server
  }

  package var folder: String
  package var layout = Layout.url
  package var link = Link.auto
  package var isAtomic = false
  package var keptGenerations = 1
  package var times = Times.made
  /// Permission bits of the files; nil keeps those that the files come with.
  package var mode: UInt16?
  package var adopts = false
  /// URL prefix of module paths in the layout `go`.
  package var goProxy: WebURL?
  /// Names of the layout `hf`; nil for every other layout.
  package var hub: HubLayout?
  package var mirror: MirrorRules?

  /// Whether files need times or modes that stored bodies may not get, which rules out links.
  package var needsOwnFiles: Bool { times != .made || mode != nil }

  /// Whether the files of a mirror get the times of their servers.
  package var isDated: Bool { (mirror != nil && layout != .hf) || times == .server }

  package init(folder: String) {
    self.folder = folder
  }
}
