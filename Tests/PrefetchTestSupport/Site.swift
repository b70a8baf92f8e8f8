package import PrefetchCore
internal import PrefetchCrypto

/// A correct web site in memory with validators, HEAD and single ranges.
///
/// Serve it with `LoopbackServer { site.respond(to: $0) }`, or call it directly.
package final class Site: Sendable {
  package struct Page: Hashable, Sendable {
    package var body: [UInt8]
    package var entityTag: String?
    package var lastModified: String?
    package var headers: [HeaderField]
    /// Status; any status but 200 is returned unchanged for every request.
    package var status: Int

    package init(
      _ body: [UInt8],
      entityTag: String? = nil,
      lastModified: String? = nil,
      headers: [HeaderField] = [],
      status: Int = 200
    ) {
      self.body = body
      self.entityTag = entityTag
      self.lastModified = lastModified
      self.headers = headers
      self.status = status
    }

    /// Creates a page whose entity tag is a digest of its text.
    package init(_ text: String, headers: [HeaderField] = []) {
      let body = Array(text.utf8)
      let tag = "\"\(SHA256.digest(of: body).hexadecimal.prefix(16))\""
      self.init(body, entityTag: tag, headers: headers)
    }
  }

  private struct State: Sendable {
    var pages: [String: Page]
    var requests: [LoopbackRequest] = []
  }

  private let state: Guarded<State>

  package init(_ pages: [String: Page] = [:]) {
    state = Guarded(State(pages: pages))
  }

  /// Page at a path, including the query if there is one.
  package subscript(path: String) -> Page? {
    get { state.withLock { $0.pages[path] } }
    set { state.withLock { $0.pages[path] = newValue } }
  }

  package var requests: [LoopbackRequest] {
    state.withLock { $0.requests }
  }

  /// Clears the recorded requests, for the second run of a test.
  package func clearRequests() {
    state.withLock { $0.requests = [] }
  }

  /// Returns the response as a script.
  package func respond(to request: LoopbackRequest) -> Script {
    let response = page(for: request)
    var headers = response.headers.map { ($0.name, $0.value) }
    // A page that declares another length ends too early.
    if response.status != 304, !response.headers.contains(where: { $0.name == "Content-Length" }) {
      headers.append(("Content-Length", String(response.body.count)))
    }
    let hasBody = request.method != "HEAD" && response.status != 304
    return Script([.send(Script.head(response.status, headers) + (hasBody ? response.body : []))])
  }

  /// Returns the response as a value; a HEAD response includes the body of GET.
  package func page(for request: LoopbackRequest) -> Page {
    let page = state.withLock { state in
      state.requests.append(request)
      return state.pages[request.target] ?? state.pages[request.path]
    }
    guard let page else { return Page(Array("not found\n".utf8), status: 404) }
    guard page.status == 200 else { return page }
    var response = page
    response.headers = Self.fields(of: page)
    guard !Self.isUnchanged(page, request.headers) else {
      response.status = 304
      response.body = []
      return response
    }
    guard let range = request.headers["Range"], Self.mayServeRange(page, request.headers) else {
      return response
    }
    return Self.part(response, range)
  }

  private static func fields(of page: Page) -> [HeaderField] {
    var fields = page.headers
    if let tag = page.entityTag {
      fields.append(HeaderField("ETag", tag))
    }
    if let date = page.lastModified {
      fields.append(HeaderField("Last-Modified", date))
    }
    return fields + [HeaderField("Accept-Ranges", "bytes")]
  }

  /// If-None-Match takes precedence; dates are compared as text.
  private static func isUnchanged(_ page: Page, _ headers: HeaderBlock) -> Bool {
    if let tags = headers.combined("If-None-Match") {
      guard let tag = page.entityTag else { return false }
      let known = tags.split(separator: ",").map { weakened(String($0.drop { $0 == " " })) }
      return tags == "*" || known.contains(weakened(tag))
    }
    guard let date = headers["If-Modified-Since"] else { return false }
    return date == page.lastModified
  }

  private static func weakened(_ tag: String) -> String {
    String(tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...])
  }

  private static func mayServeRange(_ page: Page, _ headers: HeaderBlock) -> Bool {
    guard let condition = headers["If-Range"] else { return true }
    guard !condition.hasPrefix("W/") else { return false }
    return condition == page.entityTag || condition == page.lastModified
  }

  private static func part(_ page: Page, _ range: String) -> Page {
    let count = page.body.count
    guard range.hasPrefix("bytes="), !range.contains(",") else { return page }
    let bounds = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return page }
    let first: Int
    var last = count - 1
    if bounds[0].isEmpty {
      guard let suffix = Int(bounds[1]) else { return page }
      first = max(0, count - suffix)
    } else {
      guard let start = Int(bounds[0]) else { return page }
      first = start
      last = bounds[1].isEmpty ? last : min(last, Int(bounds[1]) ?? last)
    }
    var response = page
    guard first <= last else {
      response.status = 416
      response.body = []
      response.headers.append(HeaderField("Content-Range", "bytes */\(count)"))
      return response
    }
    response.status = 206
    response.body = Array(page.body[first...last])
    response.headers.append(HeaderField("Content-Range", "bytes \(first)-\(last)/\(count)"))
    return response
  }
}
