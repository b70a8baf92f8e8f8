/// Facts about the page after a page of a list, which the page itself does not state.
package struct PageHint: Hashable, Sendable {
  /// Relation `next` of a response's `Link` field (RFC 8288).
  package enum Link: Hashable, Sendable {
    case unstated
    /// The response names other pages but none after this one.
    case last
    case next(String)
  }

  /// Address of the page before redirects, whose query may count pages.
  package var url: WebURL
  package var link: Link

  package init(_ url: WebURL, link: Link = .unstated) {
    self.url = url
    self.link = link
  }

  /// Makes the hint for a stored page, whose next page is among the `known` documents if there is one.
  ///
  /// A page that a cursor names follows its predecessor in `known`.
  package init(_ url: WebURL, known: some Sequence<String>) {
    let next = url.nextPage
    link =
      next.flatMap { next in
        known.lazy.compactMap { try? WebURL($0) }.first { $0.isPage(next.number, like: url) }
      }.map { .next($0.string) } ?? url.pageByCursor(in: known).map { .next($0) } ?? .unstated
    self.url = url
  }

  /// Returns the next page's address on the same server; nil after the last page.
  ///
  /// `count` is the number of entries in the page. Without a link a page with as many entries as its
  /// address asked for is followed by another one.
  package func next(after count: Int, from base: WebURL) throws(Failure) -> WebURL? {
    switch link {
    case .last: return nil
    case .next(let text):
      guard let next = try? base.resolving(text) else {
        throw Failure(.manifestInvalid, "its `Link` leads to a next page that is no URL")
      }
      guard [url.origin, base.origin].contains(next.origin) else {
        throw Failure(
          .manifestInvalid,
          "its next page is on another server, `\(next.authority)`"
        )
      }
      return next
    case .unstated:
      guard let size = url.pageSize, count >= size else { return nil }
      return url.nextPage?.url
    }
  }
}

extension PageHint.Link {
  /// Parses the values of `Link` fields; other relations than `next` are ignored.
  package init(_ field: String?) {
    guard let field else {
      self = .unstated
      return
    }
    self = .last
    var rest = field[...]
    while let start = rest.firstIndex(of: "<") {
      rest = rest[rest.index(after: start)...]
      guard let end = rest.firstIndex(of: ">") else { return }
      let target = rest[..<end]
      rest = rest[rest.index(after: end)...]
      let parameters = Self.parameters(&rest)
      if Self.isNext(parameters) {
        self = .next(String(target))
        return
      }
    }
  }

  /// Takes the parameters of one link, up to the comma that ends it.
  private static func parameters(_ rest: inout Substring) -> [Substring] {
    var parameters: [Substring] = []
    var start = rest.startIndex
    var index = start
    var isQuoted = false
    while index < rest.endIndex {
      let character = rest[index]
      if character == "\"" { isQuoted.toggle() }
      if !isQuoted, character == ";" || character == "," {
        parameters.append(rest[start..<index])
        start = rest.index(after: index)
        if character == "," { break }
      }
      index = rest.index(after: index)
    }
    if index == rest.endIndex { parameters.append(rest[start...]) }
    rest = rest[index...]
    return parameters
  }

  private static func isNext(_ parameters: [Substring]) -> Bool {
    parameters.contains { parameter in
      let parts = parameter.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].filter({ $0 != " " }).lowercased() == "rel" else {
        return false
      }
      let words = parts[1].filter { $0 != "\"" }.lowercased().split(separator: " ")
      return words.contains("next")
    }
  }
}

extension WebURL {
  /// Names of the parameters by which forges take the number of entries of a page.
  private static let sizeParameters: Set<String> = ["per_page", "limit"]

  fileprivate var pageSize: Int? {
    parameters.last { Self.sizeParameters.contains($0.name) }
      .flatMap { Int($0.value) }.flatMap { $0 > 0 ? $0 : nil }
  }

  private var parameters: [(name: String, value: String)] {
    (query ?? "").split(separator: "&").map { part in
      let parts = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
  }

  private var pageNumber: Int? {
    guard let text = parameters.last(where: { $0.name == "page" })?.value else { return 1 }
    return Int(text).flatMap { 1..<Int.max ~= $0 ? $0 : nil }
  }

  fileprivate var nextPage: (url: WebURL, number: Int)? {
    guard let number = pageNumber else { return nil }
    var parts = (query ?? "").split(separator: "&").filter {
      $0 != "page" && !$0.hasPrefix("page=")
    }.map(String.init)
    parts.append("page=\(number + 1)")
    let end = string.firstIndex(of: "?") ?? string.endIndex
    return (try? WebURL("\(string[..<end])?\(parts.joined(separator: "&"))")).map {
      ($0, number + 1)
    }
  }

  /// Returns the page after this one whose query has a cursor of the server's own making.
  fileprivate func pageByCursor(in known: some Sequence<String>) -> String? {
    var iterator = known.drop { $0 != string }.makeIterator()
    guard iterator.next() != nil, let next = iterator.next(), let url = try? WebURL(next) else {
      return nil
    }
    let isPage = url.origin == origin && url.path == path
    return isPage && url.parameters.contains { $0.name == "cursor" } ? next : nil
  }

  fileprivate func isPage(_ number: Int, like other: WebURL) -> Bool {
    guard origin == other.origin, parameters.contains(where: { $0.name == "page" }) else {
      return false
    }
    return pageNumber == number
  }
}
