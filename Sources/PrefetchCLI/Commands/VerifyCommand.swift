import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `verify`: hash everything stored again; with `--repair` drop what is damaged.
struct VerifyCommand {
  let context: CommandContext
  let options: VerifyOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    let report = try options.repairs ? repair(places) : inspect(places)
    guard let report else {
      return context.failLocked()
    }
    let isSound = report.bad.isEmpty
    for damage in report.bad {
      let urls = damage.urls.map { "`\($0)`" }.joined(separator: ", ")
      context.console.report(
        Diagnostic(
          "store.damaged",
          "\(damage.digest) is damaged (\(damage.problem.rawValue)): \(damage.path), the body of \(urls)"
        )
      )
    }
    if context.shared.isJSON {
      print(report)
    } else if !(context.shared.isQuiet && isSound) {
      let repaired = options.repairs && !isSound ? ", dropped; the next run fetches them again" : ""
      let orphans = report.orphans == 0 ? "" : "; \(Amounts.count(Int64(report.orphans), "orphan"))"
      context.console.print(
        "\(Amounts.count(Int64(report.checked), "object")) checked, \(Amounts.bytes(report.bytes)); "
          + "\(report.bad.count) damaged\(repaired)\(orphans)"
      )
    }
    return isSound ? ExitStatus.ok.code : ExitStatus.io.code
  }

  private func inspect(_ places: Places) throws(CommandExit) -> VerificationReport? {
    guard let store = try context.readingStore(places) else { return .empty }
    return try context.reading { () throws(Failure) in
      try store.verify { StopSignals.pending != nil }
    }
  }

  /// Nil while an earlier version keeps the cache for itself.
  private func repair(_ places: Places) throws(CommandExit) -> VerificationReport? {
    try context.reading { () throws(Failure) -> VerificationReport? in
      guard let lock = try context.runLock(places, wait: options.wait) else { return nil }
      let store = try DiskStore.openForWriting(
        cache: places.cache,
        clockStart: context.clock.now().wall
      )
      store.lock = lock
      let report = try store.verify { StopSignals.pending != nil }
      try store.repair(report.bad, holding: lock)
      try store.finishRun(holding: lock)
      try store.close()
      context.console.report(store.takeDiagnostics())
      return report
    }
  }

  private func print(_ report: VerificationReport) {
    let bad = report.bad.map { damage -> JSONValue in
      [
        "digest": .string(damage.digest.description),
        "path": .string(damage.path),
        "url": .optional(damage.urls.first),
        "problem": .string(damage.problem.rawValue),
      ]
    }
    context.console.print([
      "schema": "prefetch-verify/1",
      "checked": .integer(Int64(report.checked)),
      "bytes": .integer(report.bytes),
      "bad": .array(bad),
      "orphans": .integer(Int64(report.orphans)),
      "repaired": .bool(options.repairs && !report.bad.isEmpty),
    ])
  }
}
