/// Records analytics events from pages and programs of this machine.
package protocol EventReceiver: Sendable {
  /// Responds to one event; called on a thread that may wait for the disk.
  func respond(_ body: [UInt8]) -> ServedResponse
}

enum EventEndpoint {
  static let path = "/-/event"
  static let longestBody = 4096

  static func isMeant(by target: String) -> Bool {
    target.prefix { $0 != "?" } == path
  }
}
