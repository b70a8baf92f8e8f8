internal import PrefetchCore

extension WebURL {
  static func known(_ url: WebURL?, orElse text: String) throws(Failure) -> WebURL {
    if let url { return url }
    do {
      return try WebURL(text)
    } catch {
      throw Failure(.internal, "`\(text)` \(error)")
    }
  }
}

extension DeclaredURL {
  /// Parses an item's URL; messages call the item "it".
  static func item(_ text: some StringProtocol, base: WebURL? = nil) throws(Failure) -> DeclaredURL
  {
    do {
      return try DeclaredURL(text, base: base)
    } catch {
      throw Failure(.badURL, "it \(error)")
    }
  }
}
