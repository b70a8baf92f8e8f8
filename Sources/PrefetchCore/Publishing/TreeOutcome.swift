/// What became of a segment's published tree.
package struct TreeOutcome: Hashable, Sendable {
  /// A file that could not be published, or where no name is given the tree itself.
  package struct Trouble: Hashable, Sendable {
    package var name: String?
    package var url: String?
    package var failure: Failure

    package init(name: String? = nil, url: String? = nil, failure: Failure) {
      self.name = name
      self.url = url
      self.failure = failure
    }

    fileprivate func diagnostic(of segment: String, among count: Int) -> Diagnostic {
      let file = name.map { count > 1 ? "\(count) files, the first `\($0)`" : "`\($0)`" }
      return Diagnostic(
        Diagnostic.Code(stringLiteral: "publish.\(failure.code.rawValue)"),
        "the published tree of `\(segment)`\(file.map { ", \($0)" } ?? ""): \(failure.message)",
        hint: count > 1 ? "`prefetch verify` names each of them" : nil
      )
    }
  }

  package var folder: String
  /// Counts the changes of the tree; of an atomic one it is the folder that stands.
  package var generation: Int?
  /// Whether the tree went back and waits for the next `publish`.
  package var isHeld = false
  package var placed = 0
  package var removed = 0
  package var troubles: [Trouble] = []
  package var warnings: [Diagnostic] = []

  package init(folder: String) {
    self.folder = folder
  }

  /// What is to be told of it; files of one trouble together, where they are more than a few.
  package func diagnostics(of segment: String) -> [Diagnostic] {
    var groups: [Kind: [Trouble]] = [:]
    for trouble in troubles { groups[Kind(trouble), default: []].append(trouble) }
    var told = warnings
    for trouble in troubles {
      let alike = groups[Kind(trouble)] ?? []
      if alike.count <= Self.mostAlike {
        told.append(trouble.diagnostic(of: segment, among: 1))
      } else if alike.first == trouble {
        told.append(trouble.diagnostic(of: segment, among: alike.count))
      }
    }
    return told
  }

  private static let mostAlike = 3

  /// What troubles of several files have in common: all but the names.
  private struct Kind: Hashable {
    var code: ErrorCode
    var message: String

    init(_ trouble: Trouble) {
      code = trouble.failure.code
      message = trouble.failure.message
      if let name = trouble.name { message = message.replacing(name, with: "*") }
    }
  }

  /// Says that a tree stays at an earlier generation.
  package static func hold(
    of segment: String,
    _ folder: String,
    _ generation: Int?
  ) -> Diagnostic {
    Diagnostic(
      "publish.held",
      "`\(folder)` of segment `\(segment)` was rolled back to generation \(generation ?? 0), and runs leave it there",
      severity: .warning,
      hint: "`prefetch publish \(segment)` shows the newest again"
    )
  }

  /// Whether a name in it stands for something else than before.
  package var hasChanged: Bool { placed + removed > 0 }

  package var hasFailed: Bool {
    troubles.contains { $0.failure.code != .cancelled }
  }

  /// Whether a signal came before it was whole.
  package var isInterrupted: Bool {
    troubles.contains { $0.failure.code == .cancelled }
  }
}

/// Looks for the bodies of items among the user's own files.
package protocol FileAdopter {
  /// Takes a file of the user's into the store, where it is what the item has to be; nil where it is
  /// not. A file of an item without a digest is taken only once the server has stated its time.
  func adopt(_ file: AdoptableFile) throws(Failure) -> FoundBody?
}

/// Makes trees of files that other programs read; the engine's only door to them.
package protocol TreePublisher {
  /// The tree as it stands, nil where it has to be looked at, of which its folders alone tell.
  func untouched(_ segment: SegmentKey, _ rules: PublishingRules) throws(Failure) -> TreeOutcome?
  /// Makes the tree equal to the plan, as far as nothing of others is in the way.
  func publish(_ plan: TreePlan) -> TreeOutcome
}
