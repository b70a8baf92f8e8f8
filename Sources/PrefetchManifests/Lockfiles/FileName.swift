internal import PrefetchCore

enum FileName {
  /// Returns the decoded last component of a URL's path; nil unless it is a safe file name.
  static func last(of url: WebURL) -> String? {
    guard let last = url.path.split(separator: "/").last else { return nil }
    return Hexadecimal.decodePercent(strictly: last).flatMap { isSafe($0) ? $0 : nil }
  }

  /// Returns whether a name is a single component that cannot leave its folder or break a line.
  static func isSafe(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
      && name.unicodeScalars.allSatisfy {
        $0 != "/" && $0 != "\\" && $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
      }
  }
}
