package import PrefetchCore

/// Where a server finds what is stored.
package protocol CacheSource: Sendable {
  /// By its URL, with or without the scheme; nil for what is not there.
  func find(address: String) throws(Failure) -> HeldAnswer?
  func find(provider: String?, id: String) throws(Failure) -> HeldAnswer?
  /// A file of an older whole of an item that somebody still reads.
  func findPast(provider: String?, id: String, name: String) -> HeldAnswer?
}

/// Brings what is missing or has to be confirmed.
package protocol CachePuller: Sendable {
  /// Hands over what came of it, once, from any thread.
  func pull(_ wish: PullWish, then: @escaping @Sendable (PullOutcome) -> Void)
}

/// A stored answer, and what its configuration says of its time.
package struct HeldAnswer: Sendable {
  package let record: ContentRecord
  /// Nil where every use needs a question.
  package let freshUntil: Instant?
  package var body: any HeldBody
  /// Where players open an item of several files: its own address stands for all of them.
  package var opening: String?
  /// One of these files, by its name below the item.
  package var part: (@Sendable (String) -> HeldAnswer?)?
  /// Worked out once for all who ask for it.
  let headers: AnswerHeaders
  let version: ServedVersion
  let ageOnArrival: Duration

  package init(record: ContentRecord, freshUntil: Instant?, body: any HeldBody) {
    self.record = record
    self.freshUntil = freshUntil
    self.body = body
    headers = AnswerHeaders(of: record)
    version = ServedVersion(
      etag: record.validators.entityTag.flatMap { $0.hasSuffix("\"") ? $0 : nil },
      modified: record.validators.lastModified.flatMap { HTTPDate.parse($0) },
      size: record.size
    )
    let answered = record.validatedAt ?? record.fetchedAt
    // What several hops state says nothing of how long the last of them took.
    let freshness = record.hops.isEmpty ? record.freshness : nil
    ageOnArrival =
      answered.map { Freshness.ageOnArrival(record.headers, freshness, at: $0) } ?? .zero
  }
}

/// Where the stored bytes of an answer are.
package protocol HeldBody: Sendable {
  /// As they lie there now; nil where they are gone.
  func open() -> (any OpenBody)?
}

/// Stored bytes, for one answer.
package protocol OpenBody: Sendable {
  /// Whether they were hashed and have not been touched since.
  var isVerified: Bool { get }
  /// Hashes all of them; false where they are not what they were.
  func verify() -> Bool
  /// The file, for the server, which sends parts of it; asked for once.
  func descriptor() -> ServedDescriptor
  /// Reads all of it, and breaks off before the end where it is not what it was.
  func reader() -> any ServedReader
}

/// What a client waits for.
package struct PullWish: Hashable, Sendable {
  /// Use of the stored answer.
  package enum Use: Hashable, Sendable {
    /// A server has to be asked, conditionally where the stored answer has validators.
    case question
    /// The stored answer is fresh enough, and is given if the client's headers select it.
    case ifSelected
    /// The stored answer is given if the client's headers select it, and no server may be asked.
    case onlyIfSelected
  }

  /// Provider and id of an item.
  package struct Name: Hashable, Sendable {
    package var provider: String?
    package var id: String
  }

  /// Of what is stored and has to be asked about, or is not what it was; nil for what is not stored.
  package var url: String?
  /// In place of an address, of what nothing is stored.
  package var name: Name?
  /// As it was asked for.
  package var address: String
  /// The stored body that is not what it was.
  package var damaged: ContentDigest?
  /// Whether the client takes no answer that is remembered.
  package var hasNoCache = false
  package var use = Use.question
  /// Headers of the client that the stored answer depends on.
  package var fields = ClientFields()
}

/// What came of a pull.
package struct PullOutcome: Sendable {
  package enum Result: Sendable {
    /// It is stored, or was confirmed; or came and may not be stored.
    case held(HeldAnswer)
    /// What is stored does not serve, and no server may be asked.
    case unasked
    /// The server does not have it; `isRemembered` says that it was not asked again.
    case gone(status: Int, isRemembered: Bool)
    /// A rule of the configuration puts it off; an older copy that may stand in for it comes along.
    case deferred(rule: String, until: Instant?, older: HeldAnswer?)
    /// The older copy stands in for a server that cannot be asked now.
    case failed(code: String, message: String, older: HeldAnswer?)
  }

  package var result: Result
  /// What the server answered; nil where that is not known.
  package var status: Int?
  /// Whether another client had asked for it already.
  package var isShared = false
  /// Whether a server was asked: a stored body that is pinned by its digest needs no question, nor does
  /// a fresh one that the client's fields select.
  package var isAsked = true
  package var isStored = true

  package init(_ result: Result) {
    self.result = result
  }

  /// The refusal of a server that its client gets as it came; nil where no server has refused it, or a
  /// proxy of ours.
  var refusal: Int? {
    status.flatMap { (400..<600).contains($0) && $0 != 407 ? $0 : nil }
  }
}
