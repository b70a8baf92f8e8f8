import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `import`: a file that is here already becomes the body of a URL.
struct ImportCommand: Command {
  let context: CommandContext
  let options: ImportOptions

  func run() throws(CommandExit) -> Int32 {
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
    let (loaded, places) = try context.standing()
    let rules = loaded.configuration.policy.room
    let digest: ContentDigest
    do throws(Failure) {
      digest = try store(declared, places, loaded, within: rules.limit)
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
        "path": .string(places.bodies.path(of: digest)),
      ])
    } else if !context.shared.isQuiet {
      context.console.print("imported\t\(SafeText.line(url.redacted))")
    }
    return ExitStatus.ok.code
  }

  private func store(
    _ declared: DeclaredURL,
    _ places: Places,
    _ loaded: LoadedConfiguration,
    within limit: Int64?
  ) throws(Failure) -> ContentDigest {
    let store = try context.writingStore(
      places,
      durability: loaded.configuration.cache.durability
    )
    let known = try DeclaredItems(of: [declared.url], by: context.builder(loaded), in: store)
    // A body of another digest would never be the item that a segment declares.
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
    _ = try store.commit([.store(record, body: body, joining: [])], within: limit)
    try store.close()
    context.console.report(store.takeDiagnostics())
    return body.digest
  }
}
