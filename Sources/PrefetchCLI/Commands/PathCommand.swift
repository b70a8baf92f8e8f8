import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `path`: where the body of an item lies, for any program to read.
struct PathCommand {
  let context: CommandContext
  let options: PathOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    guard
      let record = try ItemLookup(context: context).cached(
        options.item,
        in: try context.readingStore(places)
      ),
      let digest = record.digest
    else { return missing() }
    let path = DiskStore.objectPath(digest, cache: places.cache)
    guard FileReading.size(path) == record.size else { return missing() }
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-path/1", "url": .string(record.url), "path": .string(path),
      ])
    } else {
      context.console.print(path)
    }
    return ExitStatus.ok.code
  }

  private func missing() -> Int32 {
    if options.fallsBackToURL, let url = try? WebURL(options.item) {
      if context.shared.isJSON {
        context.console.print([
          "schema": "prefetch-path/1", "url": .string(url.string), "path": .null,
        ])
      } else {
        context.console.print(url.string)
      }
      return ExitStatus.ok.code
    }
    return context.console.fail(
      .nothing,
      [Diagnostic("item.not-cached", "`\(options.item)` is not in the cache")]
    )
  }
}

/// Finds the one item that a word means: a URL, an id, or `PROVIDER/ID`.
struct ItemLookup {
  let context: CommandContext

  func cached(_ name: String, in store: DiskStore?) throws(CommandExit) -> ContentRecord? {
    guard let store else { return nil }
    let canonical = (try? WebURL(name))?.string ?? name
    let records = try context.reading { () throws(Failure) in try store.records(idOrURL: canonical)
    }
    guard records.count > 1 else { return records.first }
    // The same id under several providers: which one is meant cannot be guessed.
    let names = records.map { "`\($0.provider.map { "\($0)/" } ?? "")\($0.id)` (\($0.url))" }
    let diagnostic = Diagnostic(
      "item.ambiguous",
      "`\(name)` names several items",
      hint: "say which: \(names.joined(separator: ", "))"
    )
    throw CommandExit(status: context.console.fail(.usage, [diagnostic]))
  }
}
