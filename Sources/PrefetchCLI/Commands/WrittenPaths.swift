import PrefetchConfig
import PrefetchCore
import PrefetchSystem

/// Paths that a run writes other than cache and state: published trees, reports, files of hooks.
struct WrittenPaths {
  let all: [String]
  /// Paths that do not exist yet; a unit that names such a path does not start.
  let missing: [String]

  init(
    _ configuration: Configuration,
    further: [String],
    log: String?,
    absolute: (String) -> String
  ) {
    func folder(_ path: String) -> String { Self.folder(of: absolute(path)) }
    let published = configuration.segments.compactMap(\.declaration.publishing).map { rules in
      rules.isAtomic ? folder(rules.folder) : absolute(rules.folder)
    }
    let reports = configuration.report.files.values.filter { $0 != "-" }
      .map { folder($0.hasPrefix("+") ? String($0.dropFirst()) : $0) }
    let hooks = configuration.hooks.values.flatMap { $0.command.dropFirst() }
      .compactMap(Self.output)
      // A hook may create its file.
      .map { FileReading.exists($0) ? $0 : Self.folder(of: $0) }
    let paths = published + reports + hooks + further + (log.map { [folder($0)] } ?? [])
    all = Set(paths).sorted()
    missing = all.filter { !FileReading.exists($0) }
  }

  /// Returns the path in a word of a hook's command, unless it can only be read.
  private static func output(_ word: String) -> String? {
    let mark = word.hasPrefix("-") ? word.firstIndex(of: "=") : nil
    let path = mark.map { String(word[word.index(after: $0)...]) } ?? word
    guard path.hasPrefix("/"), !FileReading.isProgram(path),
      !system.contains(where: { path == $0 || path.hasPrefix($0 + "/") })
    else { return nil }
    return path
  }

  private static let system = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr",
  ]

  private static func folder(of path: String) -> String {
    let folder = PathText.split(path).folder
    return folder.isEmpty ? "/" : String(folder)
  }
}
