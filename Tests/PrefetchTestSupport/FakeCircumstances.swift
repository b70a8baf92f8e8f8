package import PrefetchCore

/// A machine whose network conditions a test scripts.
package final class FakeCircumstances: Circumstances {
  /// Conditions to return, one per reading; the last one repeats.
  package var readings: [NetworkConditions]
  /// Network memory of earlier runs; records are added to it.
  package var remembered = NetworkMemory()
  package var failure: Failure?
  /// Whether any route leads to a network.
  package var isConnected = true
  package private(set) var requestedAspects: [Set<NetworkConditions.Aspect>] = []
  package private(set) var recorded: [NetworkMemory] = []

  package init(_ types: NetworkType?...) {
    readings = types.map { type in
      var conditions = NetworkConditions()
      conditions.type = type
      return conditions
    }
  }

  package func conditions(_ aspects: Set<NetworkConditions.Aspect>) -> NetworkConditions {
    requestedAspects.append(aspects)
    guard var first = readings.first else { return NetworkConditions() }
    if readings.count > 1 { readings.removeFirst() }
    // Only requested aspects are returned.
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
    for sample in memory.samples.all { remembered.samples.add(sample) }
    return remembered.usage
  }
}
