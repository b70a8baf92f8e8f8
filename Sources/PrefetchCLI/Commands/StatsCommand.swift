import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore

/// `stats`: figures over the runs that are remembered.
struct StatsCommand {
  let context: CommandContext
  let options: StatsOptions

  func run() throws(CommandExit) -> Int32 {
    let loaded = try context.configuration(isRequired: false)
    let places = try context.places(loaded)
    let state = try context.readingState(places)
    let runs = try context.reading { () throws(Failure) in
      try state?.runs(of: loaded.files.isEmpty ? nil : loaded.identity) ?? []
    }
    let figures = Figures(runs)
    if context.shared.isJSON {
      context.console.print(figures.document)
    } else {
      for line in figures.lines { context.console.print(line) }
    }
    return ExitStatus.ok.code
  }

  private struct Figures {
    let runs: [RunRecord]
    /// Of all runs, by their names in the report.
    private var sums: [String: Int64] = [:]

    private static let names = [
      "items", "kept", "revalidated", "fetched", "updated", "deferred", "failed", "removed",
      "requests", "not_modified", "retries", "bytes_wire", "bytes_body", "bytes_stored",
      "bytes_saved",
    ]

    init(_ runs: [RunRecord]) {
      self.runs = runs
      for run in runs {
        let totals = DocumentReader.read(Array(run.totals.utf8), source: "totals", syntax: .json)
        for name in Self.names {
          let number = (totals.node?[name]?.scalar?.text).flatMap { Int64($0) } ?? 0
          sums[name] = (sums[name] ?? 0).addingSaturated(number)
        }
      }
    }

    private func sum(_ name: String) -> Int64 { sums[name] ?? 0 }

    private var goodCount: Int { runs.count { $0.exitCode == 0 } }

    /// The share of items that needed no body; nil where none was looked at.
    private var hitRate: Double? {
      let hits = sum("kept").addingSaturated(sum("revalidated"))
      let all = hits.addingSaturated(sum("fetched")).addingSaturated(sum("updated"))
        .addingSaturated(sum("failed"))
      return all == 0 ? nil : Double(hits) / Double(all)
    }

    var lines: [String] {
      guard let first = runs.first, let last = runs.last else { return ["no run is remembered"] }
      let rate = hitRate.map { "\(Int(($0 * 1000).rounded()))" }.map { digits in
        let text = digits.count < 2 ? "0\(digits)" : digits
        return "\(text.dropLast()).\(text.suffix(1)) %"
      }
      return [
        "runs\t\(runs.count), \(goodCount) of them ended well",
        "first\t\(Timestamp.format(first.started))",
        "last\t\(Timestamp.format(last.started)), \(last.exitName), \(Amounts.duration(last.finished - last.started))",
        "items\t\(sum("fetched")) fetched, \(sum("updated")) updated, \(sum("removed")) removed, \(sum("failed")) failed",
        "hits\t\(rate ?? "-") of all items looked at needed no transfer",
        "requests\t\(sum("requests")), \(sum("not_modified")) of them answered \"unchanged\", \(sum("retries")) tried again",
        "received\t\(Amounts.bytes(sum("bytes_wire")))",
        "saved\t\(Amounts.bytes(sum("bytes_saved")))",
      ]
    }

    var document: JSONValue {
      [
        "schema": "prefetch-stats/1",
        "runs": .integer(Int64(runs.count)),
        "ok": .integer(Int64(goodCount)),
        "first": .optional(runs.first.map { Timestamp.format($0.started) }),
        "last": .optional(runs.last.map { Timestamp.format($0.started) }),
        "hit_rate": hitRate.map { .double($0) } ?? .null,
        "totals": .object(Self.names.map { ($0, .integer(sum($0))) }),
      ]
    }
  }
}
