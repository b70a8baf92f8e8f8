/// File names of a Go module proxy: `MODULE/@v/VERSION.{info,mod,zip}` and `MODULE/@v/list`.
enum GoProxyName {
  /// Returns the path below the proxy's address or, if unknown, from the first host-like part.
  static func make(of url: WebURL, proxy: WebURL?) throws(Failure) -> String {
    var path = url.path[...]
    if let proxy, proxy.origin == url.origin, path.hasPrefix(folder(proxy.path)) {
      path = path.dropFirst(folder(proxy.path).count)
    } else {
      let components = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
      let first = components.firstIndex { $0.contains(".") || $0 == "@v" } ?? components.startIndex
      path = components[first...].joined(separator: "/")[...]
    }
    let name = URLText.decoded(path)
    guard isFile(name) else {
      throw Failure(.manifestInvalid, "its URL is none of a Go proxy (`…/@v/VERSION.zip`)")
    }
    return name
  }

  static func isFile(_ name: String) -> Bool {
    PathText.components(of: name).dropFirst().dropLast().last == "@v"
  }

  private static func folder(_ path: String) -> String {
    path.hasSuffix("/") ? path : path + "/"
  }

  /// Returns the version lists and `.info` files that go requests beyond those of lockfiles.
  static func supplements(to names: some Sequence<String>) -> [(name: String, text: String)] {
    var versions: [String: Set<String>] = [:]
    var present: Set<String> = []
    for name in names {
      present.insert(name)
      let (folder, file) = PathText.split(name)
      for suffix in [".zip", ".mod"] where file.hasSuffix(suffix) {
        versions[String(folder), default: []].insert(String(file.dropLast(suffix.count)))
      }
    }
    var supplements: [(name: String, text: String)] = []
    for (folder, known) in versions.sorted(by: { $0.key < $1.key }) {
      for version in known.sorted() where !present.contains("\(folder)/\(version).info") {
        let text = "{\"Version\":\"\(unescaped(version))\"}\n"
        supplements.append(("\(folder)/\(version).info", text))
      }
      guard !present.contains("\(folder)/list") else { continue }
      let whole = known.filter { present.contains("\(folder)/\($0).zip") }.sorted()
      supplements.append(("\(folder)/list", whole.map { unescaped($0) + "\n" }.joined()))
    }
    return supplements
  }

  /// Replaces an exclamation mark and a small letter by the capital, as proxies encode it.
  private static func unescaped(_ version: String) -> String {
    var text = ""
    var isMarked = false
    for letter in version {
      if letter == "!" {
        isMarked = true
      } else {
        text += isMarked ? letter.uppercased() : String(letter)
        isMarked = false
      }
    }
    return text
  }
}
