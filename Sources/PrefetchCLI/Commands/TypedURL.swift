import PrefetchCore

enum TypedURL {
  /// Returns the short address of a list; nil for any other word.
  static func short(
    _ word: String,
    _ context: CommandContext
  ) throws(CommandExit) -> ShortAddress? {
    do throws(ShortAddress.Fault) {
      return try ShortAddress(word)
    } catch {
      throw context.failed(.usage, "usage.bad-url", "`\(SafeText.line(word))` \(error.message)")
    }
  }

  /// Returns nil for a word that can only be an id; an invalid URL that is no id ends the command.
  static func read(
    _ word: String,
    isKnown: Bool,
    _ context: CommandContext
  ) throws(CommandExit) -> DeclaredURL? {
    guard word.contains("://") else { return nil }
    do throws(WebURL.Fault) {
      return try DeclaredURL(word)
    } catch {
      if isKnown, !error.isAboutDigest { return nil }
      let shown = SafeText.line(Redaction.url(word))
      throw context.failed(.usage, "usage.bad-url", "`\(shown)` \(error)")
    }
  }
}

extension WebURL.Fault {
  fileprivate var isAboutDigest: Bool {
    if case .malformedDigest = self { true } else { false }
  }
}
