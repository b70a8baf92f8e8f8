/// Network and power of the machine, and earlier runs' usage; queried only if a rule needs it.
package protocol Circumstances: AnyObject {
  /// Returns the current conditions; may omit aspects that are not requested.
  func conditions(_ aspects: Set<NetworkConditions.Aspect>) -> NetworkConditions
  /// Whether the machine has any network route; checked after no server could be reached.
  func hasNetwork() -> Bool
  func memory() throws(Failure) -> NetworkMemory
  func record(_ memory: NetworkMemory) throws(Failure) -> TransferUsage
}

/// Received bytes and measurements, either all remembered ones or the new ones.
package struct NetworkMemory: Hashable, Sendable {
  package var usage = TransferUsage()
  package var samples = TransferSamples()

  package init() {}

  package var isEmpty: Bool {
    usage.bytes.isEmpty && samples.all.isEmpty
  }
}
