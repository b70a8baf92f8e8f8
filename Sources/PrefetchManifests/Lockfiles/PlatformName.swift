internal import PrefetchCore

/// A platform that packages are built for; a nil property stands for any value.
struct PlatformName: Hashable {
  /// Operating system, as Node.js names it.
  var system: String
  var processor: String?
  var library: MachinePlatform.Library?
  /// Whether any version of the library is meant.
  var isAnyVersion = false

  init(system: String, processor: String?, library: MachinePlatform.Library? = nil) {
    self.system = system
    self.processor = processor
    self.library = library
  }

  init(_ machine: MachinePlatform) {
    self.init(
      system: machine.system,
      processor: Self.processor(machine.machine) ?? machine.machine,
      library: machine.library
    )
  }

  /// Parses the names of npm packages' platforms: `linux-x64`, `linux-arm64-musl`, `darwin-arm64`.
  init?(npm name: String) {
    let words = name.split(separator: "-").map(String.init)
    guard (2...3).contains(words.count), Self.systems.contains(words[0]),
      let processor = Self.processor(words[1])
    else { return nil }
    self.init(system: words[0], processor: processor)
    guard words.count == 3 else { return }
    switch words[2] {
    case "glibc", "gnu": library = .glibc(major: 2, minor: 0)
    case "musl": library = .musl(major: 1, minor: 0)
    default: return nil
    }
    isAnyVersion = true
  }

  /// Parses a wheel's platform tag: `manylinux_2_17_x86_64`, `macosx_11_0_arm64`, `win_amd64`.
  init?(wheelTag tag: String) {
    if tag == "win32" {
      self.init(system: "win32", processor: "ia32")
      return
    }
    guard let first = tag.firstIndex(of: "_") else { return nil }
    let rest = tag[tag.index(after: first)...]
    switch tag[..<first] {
    case "linux": self.init(system: "linux", machine: rest, library: nil)
    case "manylinux1":
      self.init(system: "linux", machine: rest, library: .glibc(major: 2, minor: 5))
    case "manylinux2010":
      self.init(system: "linux", machine: rest, library: .glibc(major: 2, minor: 12))
    case "manylinux2014":
      self.init(system: "linux", machine: rest, library: .glibc(major: 2, minor: 17))
    case "manylinux":
      guard let (major, minor, machine) = Self.versioned(rest) else { return nil }
      self.init(system: "linux", machine: machine, library: .glibc(major: major, minor: minor))
    case "musllinux":
      guard let (major, minor, machine) = Self.versioned(rest) else { return nil }
      self.init(system: "linux", machine: machine, library: .musl(major: major, minor: minor))
    case "macosx":
      guard let (_, _, machine) = Self.versioned(rest) else { return nil }
      if machine.hasPrefix("universal") {
        self.init(system: "darwin", processor: nil)
      } else {
        self.init(system: "darwin", machine: machine, library: nil)
      }
    case "win": self.init(system: "win32", machine: rest, library: nil)
    default: return nil
    }
  }

  private init?(system: String, machine: Substring, library: MachinePlatform.Library?) {
    guard let processor = Self.processor(String(machine)) else { return nil }
    self.init(system: system, processor: processor, library: library)
  }

  private static func versioned(_ text: Substring) -> (Int, Int, Substring)? {
    let parts = text.split(separator: "_", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let major = Int(parts[0]), let minor = Int(parts[1]) else {
      return nil
    }
    return (major, minor, parts[2])
  }

  private static let systems: Set<String> = [
    "aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "sunos", "win32",
  ]

  private static func processor(_ name: String) -> String? {
    switch name {
    case "x64", "x86_64", "amd64": "x64"
    case "arm64", "aarch64": "arm64"
    case "ia32", "i386", "i486", "i586", "i686", "x86": "ia32"
    case "arm", "armv6l", "armv7l": "arm"
    case "ppc64", "ppc64le": "ppc64"
    case "loong64", "loongarch64": "loong64"
    case "s390x", "riscv64", "mips64el": name
    default: nil
    }
  }

  // MARK: Fitting

  func runs(_ other: PlatformName) -> Bool {
    guard system == other.system else { return false }
    if let processor, let needed = other.processor, processor != needed { return false }
    guard let library, let needed = other.library else { return true }
    switch (library, needed) {
    case (.glibc(let major, let minor), .glibc(let least, let leastMinor)),
      (.musl(let major, let minor), .musl(let least, let leastMinor)):
      return isAnyVersion || (least, leastMinor) <= (major, minor)
    case (.glibc, .musl), (.musl, .glibc): return false
    }
  }

  /// Library's name in the `libc` lists of npm packages.
  var libraryName: String? {
    switch library {
    case .glibc: "glibc"
    case .musl: "musl"
    case nil: nil
    }
  }

  // MARK: As Python's markers name it

  var pythonSystem: String {
    system
  }

  /// Value of Python's `platform.machine()`; nil where it differs between machines of the platform.
  var pythonMachine: String? {
    switch (system, processor) {
    case ("linux", "x64"), ("darwin", "x64"): "x86_64"
    case ("linux", "arm64"): "aarch64"
    case ("darwin", "arm64"): "arm64"
    case ("win32", "x64"): "AMD64"
    case ("linux", "s390x"), ("linux", "riscv64"): processor
    default: nil
    }
  }
}
