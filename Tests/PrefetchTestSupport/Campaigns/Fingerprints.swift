internal import Foundation
package import PrefetchCore

/// Fingerprints of simulated runs, one number per seed, in one file.
///
/// A refactoring keeps every number; other changes show which numbers change. `PREFETCH_RECORD=1`
/// writes the file again.
package enum Fingerprints {
  private static let file = #filePath.replacing(
    "Campaigns/Fingerprints.swift",
    with: "Snapshots/seeds.txt"
  )
  private static let lock = NSLock()
  private static let perLine = 10

  /// Returns the seeds whose numbers differ from the recorded ones; all when none are recorded.
  package static func differences(_ simulation: String, _ prints: [StableHash]) -> [Int] {
    lock.withLock {
      var recorded = read()
      if ProcessInfo.processInfo.environment["PREFETCH_RECORD"] == "1" {
        recorded[simulation] = prints.map { text($0.value) }
        write(recorded)
      }
      let known = recorded[simulation] ?? []
      return prints.indices.filter { $0 >= known.count || known[$0] != text(prints[$0].value) }
    }
  }

  private static func text(_ print: UInt64) -> String {
    let digits = String(print, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func read() -> [String: [String]] {
    let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    var prints: [String: [String]] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      prints[words[0], default: []] += words.dropFirst(2)
    }
    return prints
  }

  private static func write(_ prints: [String: [String]]) {
    var lines = ""
    for (simulation, all) in prints.sorted(by: { $0.key < $1.key }) {
      for first in stride(from: 0, to: all.count, by: perLine) {
        let numbers = all[first..<min(first + perLine, all.count)].joined(separator: " ")
        lines += "\(simulation) \(first) \(numbers)\n"
      }
    }
    try? lines.write(toFile: file, atomically: true, encoding: .utf8)
  }
}

extension StableHash {
  /// Adds everything that a report says about a run except times.
  package mutating func combine(_ report: Report?) {
    guard let report else { return combine("no end") }
    combine("\(report.verdict) \(report.totals) \(report.staleCount) \(report.emptyCount)")
    combine("\(report.signal as Any) \(report.storeFailure as Any) \(report.deferral as Any)")
    combine(report.diagnostics.map(\.message).joined(separator: "\n"))
    for segment in report.segments {
      combine("\(segment.name) \(segment.state) \(segment.totals) \(segment.deferral as Any)")
      combine("\(segment.manifest.status) \(segment.manifest.failure?.message as Any)")
      combine(segment.changes.map { "\($0.outcome) \($0.url)" }.joined(separator: " "))
    }
    for item in report.items {
      combine("\(item.url) \(item.id) \(item.segments) \(item.state) \(item.action)")
      combine("\(item.outcome as Any) \(item.reason) \(item.source as Any) \(item.status as Any)")
      combine("\(item.attempts) \(item.size as Any) \(item.isUsable) \(item.isRequired)")
      combine("\(item.redirects.map(\.url.string)) \(item.finalURL as Any) \(item.isPinned)")
      combine("\(item.failure as Any) \(item.deferral as Any) \(item.departure as Any)")
      combine("\(item.position as Any) \(item.sources.map { "\($0.url) \($0.status as Any)" })")
    }
  }
}
