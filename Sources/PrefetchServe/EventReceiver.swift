/// Records what pages and programs of this machine want to be remembered.
package protocol EventReceiver: Sendable {
  /// Answers one event; called on a thread that may wait for a disk.
  func answer(_ body: [UInt8]) -> ServedAnswer
}

/// Where events are posted, and how large one may be.
enum EventPlace {
  static let path = "/-/event"
  static let longestBody = 4096

  static func isMeant(by target: String) -> Bool {
    target.prefix { $0 != "?" } == path
  }
}
