import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct ExportCommand: Command {
  let context: CommandContext
  let options: ExportOptions

  func run() throws(CommandExit) -> Int32 {
    let (_, locations) = try context.readConfigurationAndLocations()
    guard let store = try context.readingStore(locations) else {
      throw context.failed(.nothing, "export.nothing", "there is no cache at `\(locations.cache)`")
    }
    let folder = options.folder
    let mark = try context.reading { () throws(Failure) in
      try DiskStore.beginExport(to: folder)
    }
    guard let mark else {
      throw context.failed(
        .usage,
        "export.not-empty",
        "`\(SafeText.line(folder))` is not empty",
        hint: "name a folder that is empty or missing"
      )
    }
    let summary = try context.reading { () throws(Failure) in try export(store, to: folder, mark) }
    context.console.report(summary.lost.map(Self.diagnostic))
    print(summary)
    return summary.lost.isEmpty ? ExitStatus.ok.code : ExitStatus.io.code
  }

  private func export(
    _ store: DiskStore,
    to folder: String,
    _ mark: ExportMark
  ) throws(Failure) -> ExportSummary {
    let target = try DiskStore.openForWriting(cache: folder, clockStart: context.clock.now().wall)
    let summary = try store.export(
      to: target,
      onlyNew: options.isNewOnly,
      isCancelled: { StopSignals.pending != nil }
    )
    try target.close()
    try mark.finish()
    return summary
  }

  private static func diagnostic(_ url: String) -> Diagnostic {
    Diagnostic(
      "export.lost",
      "`\(SafeText.line(Redaction.url(url)))` was left out: its body is lost, damaged or unreadable",
      hint: "`prefetch verify --repair` and a run bring it back"
    )
  }

  private func print(_ summary: ExportSummary) {
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-export/1", "dir": .string(options.folder),
        "new": .bool(options.isNewOnly), "items": .integer(Int64(summary.items)),
        "bytes": .integer(summary.bytes),
        "lost": .strings(summary.lost.map { Redaction.url($0) }),
      ])
    } else if !context.shared.isQuiet {
      let items = Amounts.count(Int64(summary.items), "item")
      context.console.print(
        "exported \(items), \(Amounts.bytes(summary.bytes)), to \(SafeText.line(options.folder))"
      )
    }
  }
}
