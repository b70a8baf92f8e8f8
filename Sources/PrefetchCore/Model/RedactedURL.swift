extension WebURL {
  /// Returns a text with user-info and signing values masked, even if it is not a valid URL.
  package static func redacted(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "@") }) else {
      return text
    }
    if let url = try? WebURL(text) { return url.redacted }
    let mark = text.firstIndex(of: "?") ?? text.endIndex
    let address = UserInformation.masked(String(text[..<mark]))
    guard mark < text.endIndex else { return address }
    let query = (try? WebURL("https://query.invalid/\(text[mark...])"))?.redacted
    return "\(address)?\(query.flatMap(behindMark) ?? Secret.mask)"
  }

  private static func behindMark(_ url: String) -> String? {
    url.firstIndex(of: "?").map { String(url[url.index(after: $0)...]) }
  }
}
