internal import PrefetchCore

extension WebURL {
  /// The server that is meant where none is named.
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
  /// Of an item, which messages call "it".
  static func item(_ text: some StringProtocol, base: WebURL? = nil) throws(Failure) -> DeclaredURL
  {
    do {
      return try DeclaredURL(text, base: base)
    } catch {
      throw Failure(.badURL, "it \(error)")
    }
  }
}
