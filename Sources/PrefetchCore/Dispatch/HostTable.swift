/// Number of a host in a run, so that a million items need not hold its name.
package struct HostID: Hashable, Comparable, Sendable {
  package let number: Int32

  package init(_ number: Int32) {
    self.number = number
  }

  package static func < (a: Self, b: Self) -> Bool {
    a.number < b.number
  }
}

package struct HostTable: Sendable {
  private var numbers: [String: HostID] = [:]
  private var names: [String] = []

  package init() {}

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
