@unsafe @preconcurrency import Glibc

@testable import PrefetchCore

/// Program that compares pairs of versions: it reads `a<TAB>b` lines and prints `<`, `=` or `>`.
///
/// For a version that it cannot read it prints `?` and whether it can read each of the two.
struct VersionOracle: Sendable {
  private let command: String

  init(_ order: VersionOrder) {
    let folder =
      "\(#filePath)".split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/Oracles"
    command =
      order == .debian
      ? "sh '\(folder)/debian.sh'" : "/usr/bin/python3 '\(folder)/versions.py' \(order.rawValue)"
  }

  static let isThere =
    unsafe system(
      "dpkg --version >/dev/null 2>&1 && /usr/bin/python3 -c 'import packaging, semver' 2>/dev/null"
    ) == 0

  /// Runs the program once for all pairs; returns one line per pair.
  func answers(to pairs: [(a: String, b: String)]) -> [String] {
    var template = Array("/tmp/prefetch-oracle-XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&template)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unsafe unlink(path) }
    let input = Array(pairs.map { "\($0.a)\t\($0.b)\n" }.joined().utf8)
    var offset = 0
    while offset < input.count {
      let count = unsafe input[offset...].withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 else { return [] }
      offset += count
    }
    close(descriptor)
    guard let stream = unsafe popen("\(command) <\(path)", "r") else { return [] }
    defer { unsafe pclose(stream) }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe fread(&buffer, 1, buffer.count, stream)
      guard count > 0 else { break }
      output += buffer[..<count]
    }
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
