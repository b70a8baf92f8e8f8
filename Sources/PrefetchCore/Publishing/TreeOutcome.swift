package struct TreeOutcome: Hashable, Sendable {
  package struct Trouble: Hashable, Sendable {
    package var name: String?
    package var url: String?
    package var failure: Failure
    /// Whether the tree is right again: the failure only tells what another program did to it.
    package var isMended = false

    package init(name: String? = nil, url: String? = nil, failure: Failure) {
      self.name = name
      self.url = url
      self.failure = failure
    }

    /// Whether the cause is the folder or the disk, and so the same for all its files.
    fileprivate var isOfFolder: Bool { [.permission, .diskFull].contains(failure.code) }

    fileprivate func diagnostic(of segment: String, among count: Int) -> Diagnostic {
      let file = name.map { count > 1 ? "\(count) files, the first `\($0)`" : "`\($0)`" }
      return Diagnostic(
        Diagnostic.Code(stringLiteral: "publish.\(failure.code.rawValue)"),
        "the published tree of `\(segment)`\(file.map { ", \($0)" } ?? ""): \(failure.message)",
        severity: isMended ? .warning : .error,
        hint: isMended
          ? "find the program that wrote into it: it needs a copy of its own"
          : count > 1 && !isOfFolder ? "`prefetch verify` names each of them" : nil
      )
    }
  }

  package var folder: String
  /// Number of the tree's changes; of an atomic tree, the current folder.
  package var generation: Int?
  /// Whether the tree was rolled back and waits for the next `publish`.
  package var isHeld = false
  package var created = 0
  /// Number of the created files that were published before and have been missing since.
  package var restored = 0
  package var removed = 0
  /// Whether another generation of an atomic tree, which existed already, is the current one now.
  package var isSwitched = false
  package var troubles: [Trouble] = []
  package var warnings: [Diagnostic] = []

  package init(folder: String) {
    self.folder = folder
  }

  package func diagnostics(of segment: String) -> [Diagnostic] {
    var groups: [Kind: [Trouble]] = [:]
    for trouble in troubles { groups[Kind(trouble), default: []].append(trouble) }
    var all = warnings
    for trouble in troubles {
      let alike = groups[Kind(trouble)] ?? []
      if alike.count <= (trouble.isOfFolder ? 1 : Self.mostAlike) {
        all.append(trouble.diagnostic(of: segment, among: 1))
      } else if alike.first == trouble {
        all.append(trouble.diagnostic(of: segment, among: alike.count))
      }
    }
    return all
  }

  private static let mostAlike = 3

  private struct Kind: Hashable {
    var code: ErrorCode
    var isMended: Bool
    var message: String

    init(_ trouble: Trouble) {
      code = trouble.failure.code
      isMended = trouble.isMended
      message = trouble.failure.message
      // The end of a path; the name may also be a part of a folder's.
      if let name = trouble.name { message = message.replacing("/\(name)`", with: "/*`") }
    }
  }

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

  package var hasChanged: Bool { created + removed > 0 }

  package var hasFailed: Bool {
    troubles.contains { $0.failure.code != .cancelled }
  }

  package var isInterrupted: Bool {
    troubles.contains { $0.failure.code == .cancelled }
  }
}

package protocol FileAdopter {
  /// Stores a user's file if it matches the item, otherwise returns nil; an item without a digest
  /// also needs the server's time of modification.
  func adopt(_ file: AdoptableFile) throws(Failure) -> FoundBody?
}

/// Publishes trees of files for other programs; the engine's only interface to them.
package protocol TreePublisher {
  /// Returns the tree's outcome from its folder times alone; nil if its files must be checked.
  func untouched(_ segment: SegmentKey, _ rules: PublishingRules) throws(Failure) -> TreeOutcome?
  /// Makes the tree equal to the plan, except where other programs' files are in the way.
  func publish(_ plan: TreePlan) -> TreeOutcome
}
