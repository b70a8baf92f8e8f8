/// What a 304 does to stored headers.
package enum Revalidation {
  /// The stored headers renewed by those of a 304, and whether anything but a clock moved.
  package static func merge(
    stored: HeaderBlock,
    confirmed: HeaderBlock
  ) -> (headers: HeaderBlock, isChanged: Bool) {
    var merged = stored
    // An age or date of the old answer would make the renewed one old again.
    merged.fields.removeAll { ofTheAnswer.contains($0.name.lowercased()) }
    var isChanged = false
    var seen: Set<String> = []
    for field in confirmed.fields {
      let name = field.name.lowercased()
      guard !ofTheBody.contains(name), !ofTheConnection.contains(name), seen.insert(name).inserted
      else { continue }
      let values = confirmed.all(name)
      guard merged.all(name) != values else { continue }
      merged.fields.removeAll { $0.name.lowercased() == name }
      merged.fields += values.map { HeaderField(field.name, $0) }
      if !ofTheClock.contains(name) { isChanged = true }
    }
    return (merged, isChanged)
  }

  /// What of a response is worth keeping: all but what belonged to the connection.
  package static func storable(_ headers: HeaderBlock) -> HeaderBlock {
    HeaderBlock(headers.fields.filter { !ofTheConnection.contains($0.name.lowercased()) })
  }

  /// Whether two stored header blocks tell the reader different things.
  package static func isDifferent(_ a: HeaderBlock, _ b: HeaderBlock) -> Bool {
    comparable(a) != comparable(b)
  }

  /// Whether a 304 may be believed: it names no entity tag, or one we hold (weakly compared).
  package static func confirms(_ response: HeaderBlock, stored: Validators) -> Bool {
    guard let told = response["ETag"], let held = stored.entityTag else { return true }
    return opaque(told) == opaque(held)
  }

  private static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }

  private static func comparable(_ headers: HeaderBlock) -> [String] {
    headers.fields
      .filter {
        !ofTheClock.contains($0.name.lowercased())
          && !ofTheConnection.contains($0.name.lowercased())
      }
      .map { "\($0.name.lowercased()):\($0.value)" }
      .sorted()
  }

  private static let ofTheBody: Set<String> = [
    "content-length", "content-encoding", "content-type", "content-range",
  ]
  private static let ofTheClock: Set<String> = ["date", "age", "expires"]
  private static let ofTheAnswer: Set<String> = ["date", "age"]
  private static let ofTheConnection: Set<String> = [
    "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "set-cookie",
    "proxy-authenticate", "proxy-connection", "alt-svc",
  ]
}
