import PrefetchTestSupport
import Testing

/// Rows that are played in one run, in one situation over one transport.
struct MatrixBatch: Sendable, CustomTestStringConvertible {
  var situation: Situation
  var transport = Transport.plain
  var rows: [Row]

  var testDescription: String {
    let names = rows.map(\.testDescription).joined(separator: ", ")
    return "\(situation) over \(transport): \(names)"
  }

  /// Returns all rows in a situation.
  ///
  /// Rows share a run when they need no settings of their own and lead to the same exit status.
  static func of(
    _ rows: [Row],
    in situation: Situation,
    over transport: Transport = .plain
  ) -> [MatrixBatch] {
    var batches: [MatrixBatch] = []
    var open: [String: Int] = [:]
    for row in rows {
      let batch = MatrixBatch(situation: situation, transport: transport, rows: [row])
      guard let shared = row.sharedSettings(in: situation, over: transport) else {
        batches.append(batch)
        continue
      }
      if let index = open[shared], batches[index].rows.count < situation.largestBatch {
        batches[index].rows.append(row)
      } else {
        open[shared] = batches.count
        batches.append(batch)
      }
    }
    return batches
  }
}

extension Situation {
  /// Most rows of one run: few enough for their servers, and for a failure to be found.
  fileprivate var largestBatch: Int {
    switch self {
    // A run has one second tier.
    case .tier: 1
    case .ranges: 4
    case .first, .update, .resume, .behind, .registry: 8
    }
  }
}

extension Row {
  /// Returns the settings that rows must share to be tested in one run; nil for a row tested alone.
  fileprivate func sharedSettings(in situation: Situation, over transport: Transport) -> String? {
    let network = "\(timeouts) \(retries) \(largest) \(isGate)"
    switch situation {
    case .tier:
      return nil
    case .ranges:
      return settings.isEmpty ? "\(isGate)" : nil
    case .registry:
      return settings.isEmpty ? "\(network) \(isGoodInRegistry(over: transport))" : nil
    case .first, .update, .resume, .behind:
      guard isBehaviourAlone, body == nil, interrupted == nil,
        let verdict = verdict(in: situation, over: .tls), verdict.exits.count == 1
      else { return nil }
      let plain = self.verdict(in: situation, over: .plain)?.exits
      let isOther = transport == .http2 && isOtherOverHTTP2
      return "\(network) \(transport == .plain ? plain ?? [] : verdict.exits) \(isOther)"
    }
  }
}
