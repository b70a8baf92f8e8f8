import PrefetchConfig
import PrefetchCore
import PrefetchSystem

/// Where a run of a configuration writes besides its cache and state: what it publishes and reports,
/// and what its hooks are told to write.
struct WrittenPaths {
  /// Absolute paths, sorted.
  let all: [String]
  /// Paths that do not exist yet; a unit that names one does not start.
  let missing: [String]

  /// `further` are folders as they are.
  init(
    _ configuration: Configuration,
    further: [String],
    log: String?,
    absolute: (String) -> String
  ) {
    func folder(_ path: String) -> String { Self.folder(of: absolute(path)) }
    let published = configuration.segments.compactMap(\.declaration.publishing).map { rules in
      // The generations of an atomic tree stand beside the name that it has.
      rules.isAtomic ? folder(rules.folder) : absolute(rules.folder)
    }
    let reports = configuration.report.files.values.filter { $0 != "-" }
      .map { folder($0.hasPrefix("+") ? String($0.dropFirst()) : $0) }
    let hooks = configuration.hooks.values.flatMap { $0.command.dropFirst() }
      .compactMap(Self.output)
      // A hook may make a file.
      .map { FileReading.exists($0) ? $0 : Self.folder(of: $0) }
    let paths = published + reports + hooks + further + (log.map { [folder($0)] } ?? [])
    all = Set(paths).sorted()
    missing = all.filter { !FileReading.exists($0) }
  }

  /// The file or folder that a word of a hook names, unless it is one that only is read.
  private static func output(_ word: String) -> String? {
    let mark = word.hasPrefix("-") ? word.firstIndex(of: "=") : nil
    let path = mark.map { String(word[word.index(after: $0)...]) } ?? word
    guard path.hasPrefix("/"), !FileReading.isProgram(path),
      !system.contains(where: { path == $0 || path.hasPrefix($0 + "/") })
    else { return nil }
    return path
  }

  /// Where programs and their settings are, and what the kernel shows.
  private static let system = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr",
  ]

  private static func folder(of path: String) -> String {
    let folder = PathText.split(path).folder
    return folder.isEmpty ? "/" : String(folder)
  }
}
