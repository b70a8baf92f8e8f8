internal import PrefetchCore

/// Names under which files from lock files are published.
enum FileName {
  /// The last part of a URL's path with its escapes undone; nil for one that is no safe file name.
  static func last(of url: WebURL) -> String? {
    guard let last = url.path.split(separator: "/").last else { return nil }
    return Hexadecimal.decodePercent(strictly: last).flatMap { isSafe($0) ? $0 : nil }
  }

  /// One name and no more, with nothing in it that could leave a folder or a line.
  static func isSafe(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
      && name.unicodeScalars.allSatisfy {
        $0 != "/" && $0 != "\\" && $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
      }
  }
}
