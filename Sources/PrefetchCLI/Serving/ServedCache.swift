import PrefetchCore
import PrefetchManifests
package import PrefetchServe
package import PrefetchStore
import Synchronization

final class ServedCache: CacheSource {
  private struct Found: Sendable {
    var response: HeldResponse
    var body: ShelvedBody
    var isDeclared: Bool
  }

  private let view: StoreView<Found>
  private let generations: ServedGenerations?
  /// URLs served since the last ``drainUsed()``.
  private let used = Mutex<Set<String>>([])

  init(
    _ locations: CacheLocations,
    hasOwnWriters isWriter: Bool,
    identity: String,
    granted: GrantedLifetimes,
    generations: ServedGenerations? = nil
  ) {
    self.generations = generations
    view = StoreView(
      cache: locations.cache,
      below: locations.lower,
      hasOwnWriters: isWriter
    ) { entry in
      guard let digest = entry.record.digest else { return nil }
      let names = entry.holders.filter { $0.identity == identity }.map(\.name)
      let lifetimes = granted.of(names) + [entry.record.lifetime].compactMap(\.self)
      let body = ShelvedBody(shelf: entry.shelf, digest: digest, size: entry.record.size)
      var response = HeldResponse(
        record: entry.record,
        freshUntil: entry.record.freshness.end(
          under: lifetimes,
          respondedAt: entry.record.validatedAt ?? entry.record.fetchedAt
        ),
        body: body
      )
      if !entry.record.files.isEmpty {
        let files = ServedFiles(of: entry.record, on: entry.shelf, generations)
        response.opening = files.opening
        response.bundleFile = { files.response(named: $0) }
      }
      return Found(response: response, body: body, isDeclared: !entry.holders.isEmpty)
    }
  }

  /// Finds the answer under `https`, else under `http`: a path has no scheme.
  func find(address: String) throws(Failure) -> HeldResponse? {
    recordUse(try found(address))
  }

  func find(provider: String?, id: String) throws(Failure) -> HeldResponse? {
    recordUse(try view.find(provider: provider, id: id))
  }

  func findPast(provider: String?, id: String, name: String) -> HeldResponse? {
    guard let (generation, name) = ServedGenerations.split(name) else { return nil }
    let item = ServedPath.path(provider: provider, id: id, "")
    guard let found = generations?.find(name, of: generation, item: item) else { return nil }
    let record = ContentRecord(url: found.url, id: id)
    return HeldResponse(of: found.file, in: record, on: found.shelf)
  }

  /// Returns an answer with its body open, so that removal does not matter.
  func keep(url: String) throws(Failure) -> (response: HeldResponse, isDeclared: Bool)? {
    guard let found = try found(url), let body = found.body.opened() else { return nil }
    var response = found.response
    response.body = KeptBody(body: body)
    return (response, found.isDeclared)
  }

  private func found(_ address: String) throws(Failure) -> Found? {
    try view.findFirst(address) {
      if AdSpace.zone(ofRecord: address) != nil { return [address] }
      let candidates =
        address.contains("://") ? [address] : ["https://\(address)", "http://\(address)"]
      return candidates.compactMap { (try? WebURL($0))?.string }
    }
  }

  private func recordUse(_ found: Found?) -> HeldResponse? {
    guard let response = found?.response else { return nil }
    used.withLock { _ = $0.insert(response.record.url) }
    return response
  }

  // MARK: Upkeep

  func drainUsed() -> Set<String> {
    used.withLock { used in
      defer { used = [] }
      return used
    }
  }

  /// Closes the index, so that writers may checkpoint it, and ends leases that no player uses.
  func rest() {
    view.rest()
    generations?.endOver()
  }

  func forget() {
    view.forget()
  }

  func close() throws(Failure) {
    try view.close()
  }
}

/// Files of a bundle by their names below it.
private struct ServedFiles: Sendable {
  let opening: String
  private let record: ContentRecord
  private let shelf: BodyShelf
  private let mainName: String
  private let files: [String: BundleFile]
  private let generations: ServedGenerations?
  private let generation: String?

  init(of record: ContentRecord, on shelf: BodyShelf, _ generations: ServedGenerations?) {
    self.record = record
    self.shelf = shelf
    self.generations = generations
    mainName = ServedPath.mainName(of: record)
    let visible = record.files.filter(\.isShown)
    var files = Dictionary(visible.map { ($0.name, $0) }) { first, _ in first }
    opening = "/" + ServedPath.path(of: record, mainName)
    generation =
      record.mime == BundleText.playlistType
      ? record.digest.map { ServedGenerations.name(of: $0) } : nil
    if files[mainName] == nil, let digest = record.digest {
      files[mainName] = BundleFile(
        role: .playlist,
        key: ServedPath.path(of: record, ""),
        name: mainName,
        digest: digest,
        size: record.size
      )
      files[mainName]?.mime = record.mime
      files[mainName]?.finalURL = record.url
    }
    self.files = files
  }

  func response(named name: String) -> HeldResponse? {
    let leased = ServedGenerations.split(name)
    guard leased?.generation ?? generation == generation, let file = files[leased?.name ?? name]
    else {
      return nil
    }
    // A file that a lower cache has lost may still be leased.
    if let leased, !shelf.has(file.digest),
      let past = generations?.find(
        leased.name,
        of: leased.generation,
        item: ServedPath.path(of: record, "")
      )
    {
      return HeldResponse(of: past.file, in: record, on: past.shelf)
    }
    if let generation {
      generations?.keep(generation, on: shelf) { Array(files.values) }
      if leased == nil, name == mainName, let text = leading(to: generation) { return text }
    }
    return HeldResponse(of: file, in: record, on: shelf)
  }

  /// Returns the main playlist, with the other playlists' names below their generation.
  private func leading(to generation: String) -> HeldResponse? {
    guard let main = files[mainName], let body = shelf.open(main.digest, size: main.size),
      let pass = try? body.pass()
    else { return nil }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(main.size)) { buffer, count in
      while count < buffer.count {
        let rest = unsafe UnsafeMutableRawBufferPointer(
          UnsafeMutableBufferPointer(rebasing: buffer[count...])
        )
        guard let read = unsafe pass.read(into: rest, at: Int64(count)), read > 0 else { break }
        count += read
      }
    }
    guard bytes.count == Int(main.size) else { return nil }
    let text = BundleName.moving(bytes, Set(files.keys), below: "@\(generation)/")
    var response = HeldResponse(of: main, in: record, on: shelf, size: Int64(text.count))
    response.body = PlaylistBody(bytes: text)
    return response
  }
}

extension HeldResponse {
  fileprivate init(
    of file: BundleFile,
    in record: ContentRecord,
    on shelf: BodyShelf,
    size: Int64? = nil
  ) {
    var fileRecord = record
    fileRecord.digest = file.digest
    fileRecord.size = size ?? file.size
    fileRecord.mime = ContentType.known(forFileNamed: file.name) ?? file.mime
    fileRecord.headers = HeaderBlock([])
    fileRecord.validators = Validators()
    let mark = file.digest.hexadecimal.prefix(32)
    fileRecord.validators.entityTag = size == nil ? "\"\(mark)\"" : "\"\(mark)-g\""
    fileRecord.files = []
    let body = ShelvedBody(shelf: shelf, digest: file.digest, size: file.size)
    self.init(record: fileRecord, freshUntil: .distantFuture, body: body)
  }
}

private struct PlaylistBody: HeldBody, OpenBody {
  let bytes: [UInt8]

  func open() -> (any OpenBody)? { self }

  /// There is no file to send.
  var isVerified: Bool { false }
  func verify() -> Bool { true }
  func descriptor() -> ServedDescriptor { ServedDescriptor(owning: -1) }
  func reader() -> any ServedReader { PlaylistReader(bytes) }
}

private final class PlaylistReader: ServedReader {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
    let rest = bytes[min(Int(offset), bytes.count)...].prefix(buffer.count)
    unsafe buffer.copyBytes(from: rest)
    return rest.count
  }
}

enum ServedPath {
  /// Returns the name of the file that players open.
  static func mainName(of record: ContentRecord) -> String {
    let body = record.files.first { $0.digest == record.digest && !$0.name.isEmpty }
    return body?.name ?? (try? WebURL(record.shownURL)).map { BundleName.main(of: $0) } ?? ""
  }

  static func path(of record: ContentRecord, _ name: String) -> String {
    let id = record.id.isEmpty ? ItemIdentifier.make(for: record.url) : record.id
    return path(provider: record.provider, id: id, name)
  }

  static func path(provider: String?, id: String, _ name: String) -> String {
    let names = name.split(separator: "/").map(String.init)
    return (["-", "item", provider ?? "-", id] + names).map { Hexadecimal.encodePercent($0) }
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

/// A body that stays open for all waiting clients.
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

/// Used by one thread at a time, as the protocol requires.
@safe private final class PassReader: ServedReader {
  private nonisolated(unsafe) let pass: StoredBody.Pass?

  init(_ pass: sending StoredBody.Pass?) {
    unsafe self.pass = pass
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
    unsafe pass?.read(into: buffer, at: offset)
  }
}
