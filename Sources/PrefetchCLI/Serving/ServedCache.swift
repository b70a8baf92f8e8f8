import PrefetchCore
package import PrefetchServe
package import PrefetchStore
import Synchronization

/// The cache as a server sees it.
final class ServedCache: CacheSource {
  let view: StoreView
  private let identity: String
  private let granted: GrantedLifetimes
  /// What was answered with since that was last asked for.
  private let used = Mutex<Set<String>>([])

  init(_ view: StoreView, identity: String, granted: GrantedLifetimes) {
    self.view = view
    self.identity = identity
    self.granted = granted
  }

  /// Stored under `https`, else under `http`: a path does not say which.
  func find(address: String) throws(Failure) -> HeldAnswer? {
    if address.contains("://"), let url = try? WebURL(address) { return try find(url: url.string) }
    for scheme in ["https", "http"] {
      guard let url = try? WebURL("\(scheme)://\(address)") else { continue }
      if let held = try find(url: url.string) { return held }
    }
    return nil
  }

  func find(provider: String?, id: String) throws(Failure) -> HeldAnswer? {
    try view.entry(provider: provider, id: id).flatMap(held)
  }

  func find(url: String) throws(Failure) -> HeldAnswer? {
    try view.entry(url: url).flatMap(held)
  }

  private func held(_ entry: StoreView.Entry) -> HeldAnswer? {
    guard let digest = entry.record.digest else { return nil }
    let names = entry.holders.filter { $0.identity == identity }.map(\.name)
    let lifetimes = granted.of(names) + [entry.record.lifetime].compactMap(\.self)
    used.withLock { _ = $0.insert(entry.record.url) }
    return HeldAnswer(
      record: entry.record,
      freshUntil: entry.record.freshUntil(under: lifetimes),
      body: ShelvedBody(shelf: entry.shelf, digest: digest, size: entry.record.size)
    )
  }

  /// With its body open, whatever becomes of it in the cache.
  func keep(url: String) throws(Failure) -> (answer: HeldAnswer, isDeclared: Bool)? {
    guard let entry = try view.entry(url: url), var answer = held(entry),
      let digest = entry.record.digest,
      let body = entry.shelf.open(digest, size: entry.record.size)
    else { return nil }
    answer.body = KeptBody(body: body)
    return (answer, !entry.holders.isEmpty)
  }

  func takeUsed() -> Set<String> {
    used.withLock { used in
      defer { used = [] }
      return used
    }
  }
}

private struct ShelvedBody: HeldBody {
  let shelf: BodyShelf
  let digest: ContentDigest
  let size: Int64

  func open() -> (any OpenBody)? {
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
