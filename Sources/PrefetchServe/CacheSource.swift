package import PrefetchCore

/// Lookup of stored responses.
package protocol CacheSource: Sendable {
  func find(address: String) throws(Failure) -> HeldResponse?
  func find(provider: String?, id: String) throws(Failure) -> HeldResponse?
  /// Finds a file of an earlier version of an item that a player still reads.
  func findPast(provider: String?, id: String, name: String) -> HeldResponse?
}

/// Fetches missing responses and revalidates stale ones.
package protocol CachePuller: Sendable {
  func pull(_ wish: PullWish, then: @escaping @Sendable (PullOutcome) -> Void)
}

/// A stored response and its freshness under the configuration.
package struct HeldResponse: Sendable {
  package let record: ContentRecord
  /// End of freshness; nil when every use needs revalidation.
  package let freshUntil: Instant?
  package var body: any HeldBody
  /// URL at which players open an item of several files; clients of the item are redirected.
  package var opening: String?
  package var bundleFile: (@Sendable (String) -> HeldResponse?)?
  let headers: ResponseHeaders
  let version: ServedVersion
  let ageOnArrival: Duration

  package init(record: ContentRecord, freshUntil: Instant?, body: any HeldBody) {
    self.record = record
    self.freshUntil = freshUntil
    self.body = body
    headers = ResponseHeaders(of: record)
    version = ServedVersion(
      etag: record.validators.entityTag.flatMap { $0.hasSuffix("\"") ? $0 : nil },
      modified: record.validators.lastModified.flatMap { HTTPDate.parse($0) },
      size: record.size
    )
    let respondedAt = record.validatedAt ?? record.fetchedAt
    // The hops' combined freshness does not tell how long the last hop took.
    let freshness = record.hops.isEmpty ? record.freshness : nil
    ageOnArrival =
      respondedAt.map { Freshness.ageOnArrival(record.headers, freshness, at: $0) } ?? .zero
  }
}

package protocol HeldBody: Sendable {
  func open() -> (any OpenBody)?
}

package protocol OpenBody: Sendable {
  var isVerified: Bool { get }
  func verify() -> Bool
  func descriptor() -> ServedDescriptor
  /// Returns a reader that stops before the end when the digest differs.
  func reader() -> any ServedReader
}

/// A client's request that the cache cannot answer at once.
package struct PullWish: Hashable, Sendable {
  /// Use of the stored response.
  package enum Use: Hashable, Sendable {
    case afterRequest
    case ifSelected
    /// The response is used if the client's headers select it; no server may be asked.
    case onlyIfSelected
  }

  package struct Name: Hashable, Sendable {
    package var provider: String?
    package var id: String
  }

  /// URL of the stored response to revalidate or replace; nil when nothing is stored.
  package var url: String?
  package var name: Name?
  package var address: String
  package var damaged: ContentDigest?
  package var hasNoCache = false
  package var use = Use.afterRequest
  package var fields = ClientFields()
}

package struct PullOutcome: Sendable {
  package enum Result: Sendable {
    case held(HeldResponse)
    /// The stored response cannot be used, and no server may be asked.
    case unasked
    /// The server does not have the URL; `isRemembered` says that this is an earlier response.
    case gone(status: Int, isRemembered: Bool)
    /// A rule defers the transfer; `older` is a stale copy that may be used instead.
    case deferred(rule: String, until: Instant?, older: HeldResponse?)
    /// The transfer failed; `older` is a stale copy that may be used instead.
    case failed(code: String, message: String, older: HeldResponse?)
  }

  package var result: Result
  package var status: Int?
  package var isShared = false
  /// Whether a server was asked; a fresh body or one pinned by digest may need no request.
  package var wasRequested = true
  package var isStored = true

  package init(_ result: Result) {
    self.result = result
  }

  /// Status of a refusal to pass to the client as it is; nil without one, or from a proxy.
  var refusal: Int? {
    status.flatMap { (400..<600).contains($0) && $0 != 407 ? $0 : nil }
  }
}
