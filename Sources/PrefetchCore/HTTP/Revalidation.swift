/// What a 304 does to stored headers.
package enum Revalidation {
  /// The stored headers renewed by those of a 304, and whether anything but a clock moved.
  package static func merge(
    stored: HeaderBlock,
    confirmed: HeaderBlock
  ) -> (headers: HeaderBlock, isChanged: Bool) {
    // An age or date of the old answer would make the renewed one old again.
    var merged = stored.filtered { !stored.isNamed($0, anyOf: ofTheAnswer) }
    var isChanged = false
    for index in confirmed.indices {
      guard !confirmed.isNamed(index, anyOf: ofTheBody),
        !confirmed.isNamed(index, anyOf: ofTheConnection)
      else { continue }
      let places = confirmed.indices.filter { confirmed.isNamed($0, as: confirmed, at: index) }
      let known = merged.indices.filter { merged.isNamed($0, as: confirmed, at: index) }
      let isSame =
        places.count == known.count
        && zip(known, places).allSatisfy { merged.hasSameValue($0, as: confirmed, at: $1) }
      guard places.first == index, !isSame else { continue }
      if !known.isEmpty {
        merged = merged.filtered { !known.contains($0) }
      }
      for place in places {
        merged.append(confirmed, at: place)
      }
      if !confirmed.isNamed(index, anyOf: ofTheClock) { isChanged = true }
    }
    return (merged, isChanged)
  }

  /// What of a response is worth keeping: all but what belonged to the connection.
  package static func storable(_ headers: HeaderBlock) -> HeaderBlock {
    headers.filtered { !headers.isNamed($0, anyOf: ofTheConnection) }
  }

  /// Whether two stored header blocks tell the reader different things.
  package static func isDifferent(_ a: HeaderBlock, _ b: HeaderBlock) -> Bool {
    let (a, b) = (lasting(a), lasting(b))
    return a != b && comparable(a) != comparable(b)
  }

  /// Whether a 304 may be believed: it names no entity tag, or one we hold (weakly compared).
  package static func confirms(_ response: HeaderBlock, stored: Validators) -> Bool {
    guard let told = response["ETag"], let held = stored.entityTag else { return true }
    return opaque(told) == opaque(held)
  }

  private static func opaque(_ tag: String) -> Substring {
    tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
  }

  private static func lasting(_ headers: HeaderBlock) -> HeaderBlock {
    headers.filtered {
      !headers.isNamed($0, anyOf: ofTheClock) && !headers.isNamed($0, anyOf: ofTheConnection)
    }
  }

  private static func comparable(_ headers: HeaderBlock) -> [String] {
    headers.fields.map { "\($0.name.lowercased()):\($0.value)" }.sorted()
  }

  private static let ofTheBody: [String] = [
    "content-length", "content-encoding", "content-type", "content-range",
  ]
  private static let ofTheClock: [String] = ["date", "age", "expires"]
  private static let ofTheAnswer: [String] = ["date", "age"]
  private static let ofTheConnection: [String] = [
    "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "set-cookie",
    "proxy-authenticate", "proxy-connection", "alt-svc",
  ]
}

extension HeaderBlock {
  fileprivate func isNamed(_ index: Int, anyOf names: [String]) -> Bool {
    names.contains { isNamed(index, $0) }
  }
}
