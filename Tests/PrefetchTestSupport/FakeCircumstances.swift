package import PrefetchCore

/// A machine whose network is what a test says.
package final class FakeCircumstances: Circumstances {
  /// What is answered one by one, the last one for ever.
  package var answers: [NetworkConditions]
  /// What earlier runs have left; what comes is added to it.
  package var remembered = NetworkMemory()
  package var failure: Failure?
  /// Whether any way leads out.
  package var isConnected = true
  package private(set) var asked: [Set<NetworkConditions.Aspect>] = []
  package private(set) var recorded: [NetworkMemory] = []

  package init(_ types: NetworkType?...) {
    answers = types.map { type in
      var conditions = NetworkConditions()
      conditions.type = type
      return conditions
    }
  }

  package func conditions(_ aspects: Set<NetworkConditions.Aspect>) -> NetworkConditions {
    asked.append(aspects)
    guard var first = answers.first else { return NetworkConditions() }
    if answers.count > 1 { answers.removeFirst() }
    // A caller does not learn what it did not ask for.
    if !aspects.contains(.metered) { first.isMetered = nil }
    if !aspects.contains(.power) { first.power = NetworkConditions().power }
    return first
  }

  package func hasNetwork() -> Bool {
    isConnected
  }

  package func memory() throws(Failure) -> NetworkMemory {
    if let failure { throw failure }
    return remembered
  }

  package func record(_ memory: NetworkMemory) throws(Failure) -> TransferUsage {
    if let failure { throw failure }
    recorded.append(memory)
    for (key, bytes) in memory.usage.bytes { remembered.usage.add(bytes, key) }
    for sample in memory.samples.all { remembered.samples.note(sample) }
    return remembered.usage
  }
}
