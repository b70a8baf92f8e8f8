import PrefetchCore
import PrefetchDocuments
import PrefetchStore

struct PastFigures {
  private let runs: [RunRecord]
  /// Hosts with the most answers first.
  private let hosts: [(name: String, times: ResponseTimes)]
  private var sums: [String: Int64] = [:]

  private static let mostHosts = 10
  private static let percentiles = [50, 90, 99]

  init(_ runs: [RunRecord], _ times: [String: ResponseTimes]) {
    self.runs = runs
    let counted = times.map { (name: $0.key, times: $0.value, responses: $0.value.responses) }
    hosts = counted.sorted { ($1.responses, $0.name) < ($0.responses, $1.name) }
      .map { ($0.name, $0.times) }
    for run in runs { sums.merge(run.figures) { $0.addingSaturated($1) } }
  }

  private func sum(_ name: String) -> Int64 { sums[name] ?? 0 }

  private var goodCount: Int { runs.count { $0.exitCode == 0 } }

  private var savedByLifetimes: Int64 {
    max(0, sum("bytes_saved") - sum("bytes_saved_by_validators") - sum("bytes_saved_by_digests"))
  }

  /// Share of items that needed no body; nil without items.
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
      "saved\t\(Amounts.bytes(sum("bytes_saved"))): \(Amounts.bytes(sum("bytes_saved_by_validators"))) by validators, \(Amounts.bytes(sum("bytes_saved_by_digests"))) by digests, \(Amounts.bytes(savedByLifetimes)) by lifetimes",
    ] + responseLines
  }

  private var responseLines: [String] {
    let lines = hosts.prefix(Self.mostHosts).map { host in
      let times = Self.percentiles.compactMap { percent in
        host.times.percentile(percent).map { "\(percent) % within \(milliseconds($0)) ms" }
      }
      let count = Amounts.count(host.times.responses, "answer")
      return "answers\t\(SafeText.line(host.name)): \(times.joined(separator: ", ")), of \(count)"
    }
    let rest = hosts.count - lines.count
    return rest > 0 ? lines + ["answers\tand \(rest) more hosts; `--json` names them"] : lines
  }

  private func milliseconds(_ time: Duration) -> String {
    let milliseconds = time.milliseconds
    return milliseconds > 0 ? String(milliseconds) : "1"
  }

  var document: JSONValue {
    [
      "schema": "prefetch-stats/1",
      "runs": .integer(Int64(runs.count)),
      "ok": .integer(Int64(goodCount)),
      "first": .optional(runs.first.map { Timestamp.format($0.started) }),
      "last": .optional(runs.last.map { Timestamp.format($0.started) }),
      "hit_rate": hitRate.map { .double($0) } ?? .null,
      "totals": .object(ReportJSON.members(of: Totals()).map { ($0.0, .integer(sum($0.0))) }),
      "saved": [
        "validators": .integer(sum("bytes_saved_by_validators")),
        "digests": .integer(sum("bytes_saved_by_digests")),
        "lifetimes": .integer(savedByLifetimes),
      ],
      "hosts": .array(
        hosts.map { host in
          [
            "host": .string(host.name),
            "answers": .integer(host.times.responses),
            "ttfb_ms": .object(
              Self.percentiles.map { ("p\($0)", .milliseconds(host.times.percentile($0))) }
            ),
          ]
        }
      ),
    ]
  }
}

extension RunRecord {
  var figures: [String: Int64] {
    let read = DocumentReader.read(Array(totals.utf8), source: "totals", syntax: .json)
    guard case .object(let members)? = read.node.map({ JSONValue($0) }) else { return [:] }
    let numbers = members.compactMap { name, value -> (String, Int64)? in
      if case .integer(let number) = value { (name, number) } else { nil }
    }
    return Dictionary(numbers) { first, _ in first }
  }
}
