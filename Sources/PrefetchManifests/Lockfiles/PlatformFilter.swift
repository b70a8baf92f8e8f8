internal import PrefetchCore
internal import PrefetchDocuments

/// Selects a package's files by platform and Python version.
struct PlatformFilter {
  private(set) var targets: [PlatformName]?
  /// Wanted minor versions of Python 3; empty for any.
  private(set) var pythons: Set<Int> = []

  init(_ rules: ManifestRules) throws(Failure) {
    var names: [PlatformName] = []
    var hasPlatform = false
    var isEverything = false
    for name in rules.platforms.map({ $0.lowercased() }) {
      if name.hasPrefix("cp3"), let minor = Int(name.dropFirst(3)) {
        pythons.insert(minor)
        continue
      }
      hasPlatform = true
      switch name {
      case "all": isEverything = true
      case "any": break
      default:
        guard let platform = PlatformName(npm: name) ?? PlatformName(wheelTag: name) else {
          throw Failure(
            .manifestInvalid,
            "`platform` names `\(name)`, which is none that is known; write `linux-x64`, "
              + "`manylinux_2_17_x86_64`, `cp312`, `any` or `all`"
          )
        }
        names.append(platform)
      }
    }
    if !hasPlatform, let machine = rules.machine {
      targets = [PlatformName(machine)]
    } else {
      targets = isEverything || !hasPlatform ? nil : names
    }
  }

  // MARK: npm

  func admits(_ package: Node) -> Bool {
    admits(
      systems: package.words("os"),
      processors: package.words("cpu"),
      libraries: package.words("libc")
    )
  }

  func admits(systems: [String], processors: [String], libraries: [String]) -> Bool {
    guard let targets else { return true }
    guard !systems.isEmpty || !processors.isEmpty || !libraries.isEmpty else { return true }
    return targets.contains { target in
      Self.isListed(target.system, in: systems)
        && (target.processor.map { Self.isListed($0, in: processors) } ?? true)
        && (libraries.isEmpty
          || target.system == "linux"
            && (target.libraryName.map { Self.isListed($0, in: libraries) } ?? true))
    }
  }

  /// Applies npm's rule: no value marked `!`, and one of the others if there are any.
  private static func isListed(_ value: String, in list: [String]) -> Bool {
    guard !list.isEmpty, list != ["any"] else { return true }
    guard !list.contains("!" + value) else { return false }
    return list.contains(value) || list.allSatisfy { $0.hasPrefix("!") }
  }

  // MARK: Wheels

  func admits(_ wheel: WheelName) -> Bool {
    guard let targets else { return admitsPython(wheel) }
    let isForPlatform = wheel.platforms.contains { tag in
      if tag == "any" { return true }
      guard let needed = PlatformName(wheelTag: tag) else { return false }
      return targets.contains { $0.runs(needed) }
    }
    return isForPlatform && admitsPython(wheel)
  }

  private func admitsPython(_ wheel: WheelName) -> Bool {
    // Without platforms and Python versions in the configuration every wheel is wanted.
    if targets == nil, pythons.isEmpty { return true }
    return wheel.pythons.contains { python in
      wheel.abis.contains { abi in
        pythons.isEmpty
          ? Self.isUsable(python, abi) : pythons.contains { Self.isUsable(python, abi, by: $0) }
      }
    }
  }

  /// Returns whether some CPython 3 can use the wheel; free-threaded builds are excluded.
  private static func isUsable(_ python: String, _ abi: String) -> Bool {
    guard abi == "none" || abi == "abi3" || (abi.hasPrefix("cp3") && !abi.hasSuffix("t")) else {
      return false
    }
    return python.hasPrefix("cp3") || python.hasPrefix("py3")
  }

  private static func isUsable(_ python: String, _ abi: String, by minor: Int) -> Bool {
    if python == "py3" { return abi == "none" }
    guard python.hasPrefix("cp3") || python.hasPrefix("py3"), let since = Int(python.dropFirst(3))
    else { return false }
    switch abi {
    case "abi3": return python.hasPrefix("cp3") && since <= minor
    case "none": return python.hasPrefix("py3") ? since <= minor : since == minor
    default: return since == minor && abi.hasPrefix("cp3\(minor)") && !abi.hasSuffix("t")
    }
  }
}
