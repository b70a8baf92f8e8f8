/// File name of a package in yarn's offline mirror, from its URL.
package enum YarnMirrorName {
  /// Returns `@SCOPE-NAME-VERSION.tgz` for registry URLs, else the last part with its escapes.
  package static func make(of url: WebURL) throws(Failure) -> String {
    var folders = url.path.split(separator: "/", omittingEmptySubsequences: false)[...]
    guard let file = folders.popLast(), !file.isEmpty else {
      throw Failure(.badName, "its URL ends with no file name, by which yarn would look for it")
    }
    // Some registries repeat the scope before the file.
    if folders.last?.hasPrefix("@") == true, folders.dropLast().last.map(isMark) == true {
      folders.removeLast()
    }
    guard let mark = folders.popLast(), isMark(mark), let package = folders.popLast(),
      !package.isEmpty, let scope = scope(of: package, below: folders.last)
    else { return String(file) }
    return "\(scope)-\(file)"
  }

  private static func isMark(_ component: Substring) -> Bool {
    component == "-" || component == "_attachments"
  }

  private static func scope(of package: Substring, below folder: Substring?) -> Substring? {
    if package.hasPrefix("@"), let slash = package.firstRange(of: "%2f") {
      return package[..<slash.lowerBound]
    }
    return folder.flatMap { $0.hasPrefix("@") && $0.utf8.count > 1 ? $0 : nil }
  }
}
