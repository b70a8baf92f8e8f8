/// Rules of a random world's segments for a URL.
extension World {
  private func segments(declaring path: String) -> [Segment] {
    segments.filter { segment in segment.items.contains { $0.path == path } }
  }

  /// Returns whether a HEAD-only segment declares the URL and would refuse its body.
  ///
  /// A run does not see the body, but `get` does.
  func isRefusedByBody(_ path: String, in night: Int) -> Bool {
    segments(declaring: path).contains { segment in
      guard segment.keys.contains("head: true") else { return false }
      return segment.items.contains { item in
        item.path == path && refuses(item, of: segment, in: night)
      }
    }
  }

  private func refuses(_ item: Item, of segment: Segment, in night: Int) -> Bool {
    let bodies = [item.path, item.alternate].compactMap(\.self).compactMap { body($0, in: night) }
    return bodies.contains { body in
      let isLarge =
        segment.keys.contains("max_file_size: 2kB") && body.count > 2_000
        || segment.keys.contains("expect: { max_size: 3kB }") && body.count > 3_000
      return isLarge || contradicts(item, body, in: night)
    }
  }

  /// Returns whether only lists of segments without storage name the URL.
  ///
  /// `serve` reads no lists: it knows the index and the configuration's own items.
  func isUnknownToServe(_ path: String) -> Bool {
    segments(declaring: path).allSatisfy { $0.isUnstored && $0.hasList }
  }

  /// Returns whether a digest identifies the correct body.
  func isPinned(_ path: String) -> Bool {
    segments.flatMap(\.items).contains { item in
      item.path == path && [.digest, .both].contains(item.declared)
    }
  }

  func isRedirected(_ path: String, in night: Int) -> Bool {
    if case .redirect = page(path)?.replies[night] { true } else { false }
  }

  /// Whether only segments that store nothing name a URL that was absent in an earlier night.
  func isRemembered(_ path: String, since night: Int) -> Bool {
    let absences: [WorldPage.Reply] = [.status(404), .status(410)]
    let wasAbsent = page(path)?.replies[..<night].contains(where: absences.contains) ?? false
    return wasAbsent && segments(declaring: path).allSatisfy(\.isUnstored)
  }

  /// Whether a run and `get` may differ for a URL, by the contract or the meaning of a key.
  ///
  /// * `get` stores no `no-store`, so it sends a request where a run has a body.
  /// * A segment without storage drops its body; `get` has one item for all segments.
  /// * `honor_no_store` sends a request for an item that no run has stored.
  /// * An item that one segment keeps forever is absent for a user who requests it.
  /// * A host with `Retry-After` tells the first client, and the others wait.
  func mayPart(_ path: String, until night: Int) -> Bool {
    let declaring = segments(declaring: path)
    let items = declaring.flatMap(\.items).filter { $0.path == path }
    let paths = [path] + items.compactMap(\.alternate)
    let pages = (0...night).flatMap { night in paths.compactMap { goal($0, in: night)?.page } }
    if pages.contains(where: \.isUnstorable) { return true }
    let closing = self.pages.filter { $0.path.hasPrefix("/closing/") }
    if closing.count > 1, closing.contains(where: { $0.path == path }) { return true }
    guard declaring.count > 1 else { return false }
    return Set(declaring.map(\.isUnstored)).count > 1
      || declaring.contains { $0.keys.contains("honor_no_store: true") }
      || Set(items.map(\.isImmutable)).count > 1
  }
}
