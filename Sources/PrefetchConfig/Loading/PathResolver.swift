/// Paths of the configuration as absolute ones: relative to the file that holds them, `~/` at home.
struct PathResolver: Sendable {
  var currentDirectory: String
  var homeDirectory: String?
  /// The folder of each source that is a file; every other source is the command line.
  var folders: [String: String] = [:]

  init(_ environment: ConfigurationEnvironment) {
    currentDirectory = environment.currentDirectory
    homeDirectory = environment.homeDirectory
  }

  func resolve(_ path: String, in source: String) -> String {
    if path == "~" { return homeDirectory ?? path }
    if path.hasPrefix("~/"), let homeDirectory {
      return Self.normalised("\(homeDirectory)/\(path.dropFirst(2))")
    }
    return Self.join(folders[source] ?? currentDirectory, path)
  }

  static func join(_ folder: String, _ path: String) -> String {
    normalised(path.hasPrefix("/") ? path : "\(folder)/\(path)")
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Without empty, `.` and, as far as they can be taken back, `..` parts.
  static func normalised(_ path: String) -> String {
    var kept: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == ".." {
        if !kept.isEmpty { kept.removeLast() }
      } else {
        kept.append(part)
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}
