package import PrefetchCore

/// Runs the user's probe program, which prints words such as `wifi,metered` or `ethernet ac`.
package struct NetworkProbe: Sendable {
  private static let timeout = Duration.seconds(5)

  private let words: [String]
  private let environment: [String: String]

  package init(_ words: [String], environment: [String: String]) {
    self.words = words
    self.environment = environment
  }

  package func look() -> NetworkConditions {
    do throws(ChildProcess.Fault) {
      let output = try ChildProcess.output(located, environment: environment, within: Self.timeout)
      guard let conditions = Self.read(output) else {
        let words = output.prefix(60).filter { $0.isASCII && !$0.isNewline && $0 != "`" }
        return Self.unknown("`network.probe` printed an unknown word: `\(words)`")
      }
      return conditions
    } catch {
      return Self.unknown("`network.probe` \(error.reason)")
    }
  }

  private var located: [String] {
    guard let name = words.first,
      let path = ProgramSearch.path(of: name, in: environment["PATH"])
    else { return words }
    return [path] + words.dropFirst()
  }

  package static func read(_ output: String) -> NetworkConditions? {
    var conditions = unknown("`network.probe` says so")
    let words = output.split { $0 == "," || $0.isWhitespace }
    guard !words.isEmpty else { return nil }
    for word in words {
      switch word.lowercased() {
      case "unknown": break
      case "metered": conditions.isMetered = true
      case "unmetered": conditions.isMetered = false
      case "ac": conditions.power.isOnMains = true
      case "battery": conditions.power.isOnMains = false
      case let text where text.hasSuffix("%"):
        guard let charge = Int(text.dropLast()), (0...100).contains(charge) else { return nil }
        conditions.power.charge = charge
      case let text:
        guard let type = NetworkType(rawValue: text) else { return nil }
        conditions.type = type
      }
    }
    return conditions
  }

  private static func unknown(_ reason: String) -> NetworkConditions {
    var conditions = NetworkConditions()
    conditions.typeReason = reason
    conditions.meteredReason = reason
    conditions.power = NetworkConditions.Power(reason: reason)
    return conditions
  }
}
