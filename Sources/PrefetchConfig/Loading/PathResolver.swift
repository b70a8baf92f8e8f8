/// Makes paths absolute: relative to the file that contains them, `~/` to the home folder.
struct PathResolver: Sendable {
  var currentDirectory: String
  var homeDirectory: String?
  /// Folders of the sources that are files; other sources use the working directory.
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
