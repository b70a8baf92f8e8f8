internal import PrefetchCore
internal import PrefetchDocuments

/// Packages of a uv.lock that the wanted platforms need; the markers stand with the dependents.
struct UVNeeds {
  private(set) var isNeeded: [Bool]

  /// Evaluates the lock file; `manifest` is its table of a script's requirements.
  init(_ packages: [Node], manifest: Node?, on platforms: PlatformFilter) {
    var numbers: [String: [Int]] = [:]
    for (number, package) in packages.enumerated() {
      numbers[package.member("name")?.text ?? "", default: []].append(number)
    }
    /// Returns the packages that dependency entries name, and whether their markers may hold.
    func needs(_ nodes: [Node]) -> [(number: Int, mayHold: Bool)] {
      nodes.flatMap { need -> [(number: Int, mayHold: Bool)] in
        let version = need.member("version")?.text
        let marker = need.member("marker")?.text
        let mayHold = marker.map { Marker.mayHold($0, on: platforms) } ?? true
        return numbers[need.member("name")?.text ?? "", default: []].filter { number in
          version == nil || packages[number].member("version")?.text == version
        }.map { ($0, mayHold) }
      }
    }
    let needed = packages.map { needs(Self.needs(of: $0)) }
    let groupNeeds =
      needs(Self.groups(manifest?.member("dependency-groups")))
      + needs(manifest?.member("requirements")?.sequence ?? [])
    func spread(_ marks: inout [Bool], alongAll: Bool) {
      var queue = marks.indices.filter { marks[$0] }
      while let number = queue.popLast() {
        for need in needed[number] where (need.mayHold || alongAll) && !marks[need.number] {
          marks[need.number] = true
          queue.append(need.number)
        }
      }
    }
    // Roots: workspace members, which may need their own extras, and packages without dependents.
    var isRoot = packages.map { _ in true }
    for (number, needs) in needed.enumerated() {
      for need in needs where need.number != number { isRoot[need.number] = false }
    }
    for need in groupNeeds { isRoot[need.number] = false }
    for (number, package) in packages.enumerated() where Self.isOwn(package) {
      isRoot[number] = true
    }
    // Packages of an unreachable dependency cycle count as needed: nothing tells their conditions.
    var isReached = isRoot
    for need in groupNeeds { isReached[need.number] = true }
    spread(&isReached, alongAll: true)
    isNeeded = packages.indices.map { isRoot[$0] || !isReached[$0] }
    for need in groupNeeds where need.mayHold { isNeeded[need.number] = true }
    spread(&isNeeded, alongAll: false)
  }

  static func isOwn(_ package: Node) -> Bool {
    let source = package.member("source")
    return source?.member("virtual") != nil || source?.member("editable") != nil
  }

  private static func needs(of package: Node) -> [Node] {
    (package.member("dependencies")?.sequence ?? [])
      + groups(package.member("optional-dependencies")) + groups(package.member("dev-dependencies"))
  }

  private static func groups(_ table: Node?) -> [Node] {
    (table?.mapping ?? []).flatMap { $0.value.sequence ?? [] }
  }
}
