/// A wheel's file name, `NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl`; dots separate tags.
struct WheelName {
  var project: String
  var version: String
  var pythons: [String]
  var abis: [String]
  var platforms: [String]

  init?(_ fileName: String) {
    guard fileName.lowercased().hasSuffix(".whl") else { return nil }
    let parts = fileName.dropLast(4).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 5 || parts.count == 6, parts.allSatisfy({ !$0.isEmpty }) else {
      return nil
    }
    let tags = parts.suffix(3).map { part in
      part.lowercased().split(separator: ".").map(String.init)
    }
    project = ProjectName.normalised(parts[0])
    version = String(parts[1])
    (pythons, abis, platforms) = (tags[0], tags[1], tags[2])
  }
}

enum ProjectName {
  /// Normalizes a name: lower case, runs of `-`, `_` and `.` become one `-` (PEP 503).
  static func normalised(_ name: some StringProtocol) -> String {
    var text = ""
    for character in name.lowercased() {
      guard "-_.".contains(character) else {
        text.append(character)
        continue
      }
      if text.last != "-" { text.append("-") }
    }
    return text
  }

  static func isValid(_ name: some StringProtocol) -> Bool {
    let isEdge: (Character?) -> Bool = {
      $0.map { $0.isASCII && ($0.isLetter || $0.isNumber) } ?? false
    }
    return isEdge(name.first) && isEdge(name.last)
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
  }
}
