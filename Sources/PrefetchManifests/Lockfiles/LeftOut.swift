internal import PrefetchCore

/// Reason why something in a lock file is not fetched.
struct LeftOut: Hashable {
  private let noun: CountedNoun
  /// Words after the name that tell it from what is fetched: `from git or local files`.
  private let detail: String
  private let cure: String?
  let isMissed: Bool

  /// Most names in one message, so that users read it to its end.
  static let mostNames = 3

  init(
    _ noun: CountedNoun,
    _ detail: String,
    cure: String? = nil,
    isMissed: Bool = true
  ) {
    self.noun = noun
    self.detail = detail
    self.cure = cure
    self.isMissed = isMissed
  }

  static func unpublished(_ detail: String) -> Self {
    Self(
      CountedNoun("package"),
      detail,
      cure: "pack them into archives, and list their URLs in a segment with `urls`"
    )
  }

  static let alongsideLock = Self(
    CountedNoun("file"),
    "beside the lock file",
    cure: "copy them from the project, or list their URLs in a segment with `urls`"
  )

  func text(_ count: Int) -> String {
    "\(noun.text(count)) \(detail)"
  }

  func diagnostic(naming names: [String], of count: Int) -> Diagnostic {
    let quoted = names.map { "`\($0.prefix(120))`" }
    let list =
      count > names.count
      ? "\(quoted.joined(separator: ", ")) and \(count - names.count) more"
      : (quoted.dropLast(2) + [quoted.suffix(2).joined(separator: " and ")])
        .joined(separator: ", ")
    return Diagnostic(
      "manifest.left-out",
      "left out: \(list) \(detail)",
      severity: isMissed ? .warning : .note,
      hint: cure
    )
  }
}
