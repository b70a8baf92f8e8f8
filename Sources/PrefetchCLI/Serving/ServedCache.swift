import PrefetchCore
import PrefetchManifests
package import PrefetchServe
package import PrefetchStore
import Synchronization

/// The cache as a server sees it.
final class ServedCache: CacheSource {
  /// A stored answer, and what only this side of the server needs to know of it.
  private struct Found: Sendable {
    var answer: HeldAnswer
    var body: ShelvedBody
    var isDeclared: Bool
  }

  private let view: StoreView<Found>
  /// What was answered with since that was last asked for.
  private let used = Mutex<Set<String>>([])

  init(
    _ places: Places,
    besideOwnWriters isWriter: Bool,
    identity: String,
    granted: GrantedLifetimes
  ) {
    view = StoreView(
      cache: places.cache,
      below: places.lower,
      besideOwnWriters: isWriter
    ) { entry in
      guard let digest = entry.record.digest else { return nil }
      let names = entry.holders.filter { $0.identity == identity }.map(\.name)
      let lifetimes = granted.of(names) + [entry.record.lifetime].compactMap(\.self)
      let body = ShelvedBody(shelf: entry.shelf, digest: digest, size: entry.record.size)
      var answer = HeldAnswer(
        record: entry.record,
        freshUntil: entry.record.freshness.end(
          under: lifetimes,
          answeredAt: entry.record.validatedAt ?? entry.record.fetchedAt
        ),
        body: body
      )
      if !entry.record.files.isEmpty {
        let parts = ServedParts(of: entry.record, on: entry.shelf)
        answer.opening = parts.opening
        answer.part = { parts.answer(named: $0) }
      }
      return Found(answer: answer, body: body, isDeclared: !entry.holders.isEmpty)
    }
  }

  /// Stored under `https`, else under `http`: a path does not say which.
  func find(address: String) throws(Failure) -> HeldAnswer? {
    note(try found(address))
  }

  func find(provider: String?, id: String) throws(Failure) -> HeldAnswer? {
    note(try view.answer(provider: provider, id: id))
  }

  /// With its body open, whatever becomes of it in the cache.
  func keep(url: String) throws(Failure) -> (answer: HeldAnswer, isDeclared: Bool)? {
    guard let found = try found(url), let body = found.body.opened() else { return nil }
    var answer = found.answer
    answer.body = KeptBody(body: body)
    return (answer, found.isDeclared)
  }

  private func found(_ address: String) throws(Failure) -> Found? {
    try view.answer(to: address) {
      let candidates =
        address.contains("://") ? [address] : ["https://\(address)", "http://\(address)"]
      return candidates.compactMap { (try? WebURL($0))?.string }
    }
  }

  private func note(_ found: Found?) -> HeldAnswer? {
    guard let answer = found?.answer else { return nil }
    used.withLock { _ = $0.insert(answer.record.url) }
    return answer
  }

  // MARK: Upkeep

  func takeUsed() -> Set<String> {
    used.withLock { used in
      defer { used = [] }
      return used
    }
  }

  /// Lets go of the index, so that writers may tidy it up.
  func rest() {
    view.rest()
  }

  /// What was found before may no longer be so.
  func forget() {
    view.forget()
  }

  func close() throws(Failure) {
    try view.close()
  }
}

/// The files of an item that consists of several, by their names below it.
private struct ServedParts: Sendable {
  let opening: String
  private let record: ContentRecord
  private let shelf: BodyShelf
  private let mainName: String
  private let files: [String: BundleFile]

  init(of record: ContentRecord, on shelf: BodyShelf) {
    self.record = record
    self.shelf = shelf
    mainName = ServedPlace.mainName(of: record)
    let visible = record.files.filter { !$0.name.isEmpty && !$0.isReserved }
    files = Dictionary(visible.map { ($0.name, $0) }) { first, _ in first }
    opening = "/" + ServedPlace.path(of: record, mainName)
  }

  func answer(named name: String) -> HeldAnswer? {
    let file = files[name]
    guard file != nil || name == mainName, let digest = file?.digest ?? record.digest else {
      return nil
    }
    var part = record
    part.digest = digest
    part.size = file?.size ?? record.size
    part.mime = file.map { ContentType.known(forFileNamed: $0.name) ?? $0.mime } ?? record.mime
    part.headers = HeaderBlock([])
    part.validators = Validators()
    part.validators.entityTag = "\"\(digest.hexadecimal.prefix(32))\""
    part.files = []
    let body = ShelvedBody(shelf: shelf, digest: digest, size: part.size)
    return HeldAnswer(record: part, freshUntil: .distantFuture, body: body)
  }
}

/// Where a server has what is stored.
enum ServedPlace {
  /// What players open of an item of several files.
  static func mainName(of record: ContentRecord) -> String {
    let body = record.files.first { $0.digest == record.digest && !$0.name.isEmpty }
    return body?.name ?? (try? WebURL(record.url)).map { BundleName.main(of: $0) } ?? ""
  }

  /// Of a file of an item, below the server's root.
  static func path(of record: ContentRecord, _ name: String) -> String {
    let id = record.id.isEmpty ? ItemIdentifier.make(for: record.url) : record.id
    let names = name.split(separator: "/").map(String.init)
    return (["-", "item", record.provider ?? "-", id] + names).map { Hexadecimal.encodePercent($0) }
      .joined(separator: "/")
  }
}

private struct ShelvedBody: HeldBody {
  let shelf: BodyShelf
  let digest: ContentDigest
  let size: Int64

  func open() -> (any OpenBody)? {
    opened()
  }

  func opened() -> StoredBody? {
    shelf.open(digest, size: size)
  }
}

/// A body that stays open for as many clients as wait for it.
private struct KeptBody: HeldBody {
  let body: StoredBody

  func open() -> (any OpenBody)? {
    body.another()
  }
}

extension StoredBody: OpenBody {
  package func descriptor() -> ServedDescriptor {
    ServedDescriptor(owning: release())
  }

  package func reader() -> any ServedReader {
    PassReader(try? pass())
  }
}

/// One thread at a time uses it, as the protocol says.
@safe private final class PassReader: ServedReader {
  private nonisolated(unsafe) let pass: StoredBody.Pass?

  init(_ pass: sending StoredBody.Pass?) {
    unsafe self.pass = pass
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
    unsafe pass?.read(into: buffer, at: offset)
  }
}
