import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct ImportCommand: Command {
  let context: CommandContext
  let options: ImportOptions

  func run() throws(CommandExit) -> Int32 {
    if let folder = options.folder { return try importCache(folder) }
    guard let declared = options.url else { return ExitStatus.usage.code }
    let url = declared.url
    if let type = options.type, ["hls", "dash", "vast"].contains(type) {
      throw context.failed(
        .usage,
        "usage.import-type",
        "an item of type `\(type)` is more than one file, and one is imported",
        hint: "`--type file` stores this one alone"
      )
    }
    let (loaded, locations) = try context.configurationAndLocations()
    let rules = loaded.configuration.policy.room
    let digest: ContentDigest
    do throws(Failure) {
      digest = try store(declared, locations, loaded, within: rules.limit)
    } catch {
      if error.code == .digestMismatch {
        throw context.failed(.trust, "import.digest_mismatch", error.message)
      }
      guard error.code == .cacheFull || error.code == .tooLarge else {
        throw context.storeFailed(error)
      }
      throw context.failed(.incomplete, "import.\(error.code.rawValue)", error.message)
    }
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-import/1", "url": .string(url.redacted),
        "digest": .string(digest.description),
        "path": .string(locations.bodies.path(of: digest)), "dir": .null, "items": 1,
        "bytes": .null,
        "known": 0, "left_out": .array([]),
      ])
    } else if !context.shared.isQuiet {
      context.console.print("imported\t\(SafeText.line(url.redacted))")
    }
    return ExitStatus.ok.code
  }

  // MARK: Another cache

  private func importCache(_ folder: String) throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.configurationAndLocations()
    let found = try context.reading { () throws(Failure) in
      try DiskStore.openForeign(folder, clockStart: context.clock.now().wall)
    }
    guard let other = found else {
      throw context.failed(
        .nothing,
        "import.nothing",
        "there is no cache at `\(SafeText.line(folder))`",
        hint: "name the folder that holds `index.sqlite` and `objects`"
      )
    }
    let summary = try context.reading { () throws(Failure) in
      try importItems(other, loaded, locations)
    }
    context.console.report(other.drainDiagnostics() + summary.leftOut.map(Self.diagnostic))
    printSummary(summary, of: folder)
    if summary.leftOut.contains(where: { $0.failure.code == .digestMismatch }) {
      return ExitStatus.trust.code
    }
    return summary.leftOut.isEmpty ? ExitStatus.ok.code : ExitStatus.incomplete.code
  }

  private func importItems(
    _ other: DiskStore,
    _ loaded: LoadedConfiguration,
    _ locations: CacheLocations
  ) throws(Failure) -> ImportSummary {
    let urls = try other.storedURLs().compactMap { try? WebURL($0) }
    let store = try context.writingStore(
      locations,
      durability: loaded.configuration.cache.durability
    )
    let known = try DeclaredItems(of: urls, by: context.builder(loaded), in: store)
    let digests = { (url: String) -> [[ExpectedDigest]] in
      guard let url = try? WebURL(url) else { return [] }
      return known[url].map { $0.entry.digests }.filter { !$0.isEmpty }
    }
    let terms = ImportTerms(
      limit: loaded.configuration.policy.room.limit,
      fileLimit: loaded.configuration.policy.maximumFileSize ?? .max,
      algorithms: { Set(digests($0).joined().map(\.algorithm)) },
      objection: { url, body in
        for demand in digests(url) {
          guard let declared = try? WebURL(url) else { continue }
          var entry = ManifestEntry(url: declared)
          entry.digests = demand
          let objection = BodyCheck.objection(to: body, headers: HeaderBlock(), entry: entry)
          if let objection { return objection }
        }
        return nil
      },
      isCancelled: { StopSignals.pending != nil }
    )
    let summary = try store.importItems(from: other, terms)
    try store.close()
    context.console.report(store.drainDiagnostics())
    return summary
  }

  private static func diagnostic(_ left: ImportSummary.LeftOut) -> Diagnostic {
    Diagnostic(
      "import.left-out",
      "`\(SafeText.line(Redaction.url(left.url)))` was left out: \(left.failure.message)"
    )
  }

  private func printSummary(_ summary: ImportSummary, of folder: String) {
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-import/1", "url": .null, "digest": .null, "path": .null,
        "dir": .string(folder), "items": .integer(Int64(summary.items)),
        "bytes": .integer(summary.bytes), "known": .integer(Int64(summary.known)),
        "left_out": .array(
          summary.leftOut.map { left in
            ["url": .string(Redaction.url(left.url)), "reason": .string(left.failure.message)]
          }
        ),
      ])
    } else if !context.shared.isQuiet {
      let items = Amounts.count(Int64(summary.items), "item")
      let known = summary.known == 0 ? "" : "; \(Amounts.count(Int64(summary.known), "item")) known"
      context.console.print(
        "imported \(items), \(Amounts.bytes(summary.bytes)), from \(SafeText.line(folder))\(known)"
      )
    }
  }

  // MARK: A file

  private func store(
    _ declared: DeclaredURL,
    _ locations: CacheLocations,
    _ loaded: LoadedConfiguration,
    within limit: Int64?
  ) throws(Failure) -> ContentDigest {
    let store = try context.writingStore(
      locations,
      durability: loaded.configuration.cache.durability
    )
    let known = try DeclaredItems(of: [declared.url], by: context.builder(loaded), in: store)
    // A body with another digest could never be the declared item.
    let demands =
      [declared.digests]
      + known[declared.url].map { $0.entry.digests }
      .filter { !$0.isEmpty }
    let body = try store.stage(
      fileAt: options.file,
      limit: loaded.configuration.policy.maximumFileSize ?? .max,
      alsoHashing: Set(demands.joined().map(\.algorithm))
    )
    for digests in demands {
      var entry = ManifestEntry(url: declared.url)
      entry.digests = digests
      if let objection = BodyCheck.objection(to: body, headers: HeaderBlock(), entry: entry) {
        try store.close()
        throw objection
      }
    }
    var record = ContentRecord(url: declared.url.string, id: options.id ?? "")
    record.provider = options.provider
    record.type = options.type
    record.state = .cached
    record.fetchedAt = store.clockStart
    record.validatedAt = store.clockStart
    record.validators.lastModified = HTTPDate.format(
      try DiskStore.modificationTime(ofFileAt: options.file)
    )
    _ = try store.commit([.store(record, body: body, joining: [])], within: limit)
    try store.close()
    context.console.report(store.drainDiagnostics())
    return body.digest
  }
}
