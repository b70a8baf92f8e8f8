/// The machine's network and power, and what earlier runs received; asked only where a rule needs it.
package protocol Circumstances: AnyObject {
  /// How things stand now; what was not asked for may be left out.
  func conditions(_ aspects: Set<NetworkConditions.Aspect>) -> NetworkConditions
  /// Whether any way leads out of the machine; looked at once no server could be reached.
  func hasNetwork() -> Bool
  /// What is remembered of received bytes and of measurements.
  func memory() throws(Failure) -> NetworkMemory
  /// Keeps what was received for good, and only then says what all runs have received.
  func record(_ memory: NetworkMemory) throws(Failure) -> TransferUsage
}

/// Received bytes and measurements: all that is remembered, or what is new.
package struct NetworkMemory: Hashable, Sendable {
  package var usage = TransferUsage()
  package var samples = TransferSamples()

  package init() {}

  package var isEmpty: Bool {
    usage.bytes.isEmpty && samples.all.isEmpty
  }
}
