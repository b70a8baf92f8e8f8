/// The number by which a run knows a host, so that a million items need not hold its name.
package struct HostID: Hashable, Comparable, Sendable {
  package let number: Int32

  package init(_ number: Int32) {
    self.number = number
  }

  package static func < (a: Self, b: Self) -> Bool {
    a.number < b.number
  }
}

/// Every host that a run has met: names become numbers once, and numbers names when one is told.
package struct HostTable: Sendable {
  private var numbers: [String: HostID] = [:]
  private var names: [String] = []

  package init() {}

  /// `authority` as ``WebURL/authority`` has it.
  package mutating func host(_ authority: String) -> HostID {
    if let known = numbers[authority] { return known }
    let host = HostID(Int32(names.count))
    numbers[authority] = host
    names.append(authority)
    return host
  }

  package func name(of host: HostID) -> String {
    names[Int(host.number)]
  }
}
