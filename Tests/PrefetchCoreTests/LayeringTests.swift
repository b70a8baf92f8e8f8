import Glibc
import Testing

/// The arrows between the targets, as the sources draw them.
@Suite struct LayeringTests {
  /// What each target may import besides the standard library's own modules.
  private static let allowed: [String: Set<String>] = [
    "PrefetchCore": [],
    "PrefetchDocuments": ["PrefetchCore", "CYAML", "CExpat"],
    "PrefetchCrypto": ["PrefetchCore", "COpenSSL", "CZlib"],
    "PrefetchConfig": ["PrefetchCore", "PrefetchDocuments"],
    "PrefetchManifests": ["PrefetchCore", "PrefetchDocuments", "PrefetchCrypto"],
    "PrefetchTransfer": ["PrefetchCore", "PrefetchCrypto", "CCurl", "COpenSSL", "Glibc"],
    "PrefetchStore": ["PrefetchCore", "PrefetchCrypto", "CSQLite", "CLinux", "Glibc"],
    "PrefetchSystem": ["PrefetchCore", "CLinux", "Glibc"],
    "PrefetchServe": ["PrefetchCore", "CMicroHTTPD", "Glibc"],
    "PrefetchEngine": ["PrefetchCore", "PrefetchManifests"],
    "PrefetchCLI": [
      "PrefetchCore", "PrefetchDocuments", "PrefetchCrypto", "PrefetchConfig", "PrefetchManifests",
      "PrefetchTransfer", "PrefetchStore", "PrefetchSystem", "PrefetchServe", "PrefetchEngine",
      "Glibc",
    ],
    "prefetch": ["PrefetchCLI", "Glibc"],
  ]
  private static let standard: Set<String> = ["Synchronization"]

  @Test("Every target imports only what lies below it", arguments: allowed.keys.sorted())
  func imports(target: String) throws {
    let files = Self.swiftFiles(below: "\(Self.sources)/\(target)")
    #expect(!files.isEmpty, "\(target) has no sources")
    let allowed = try #require(Self.allowed[target]).union(Self.standard)
    for file in files {
      for (line, module) in Self.imports(in: file) where !allowed.contains(module) {
        Issue.record("\(file):\(line): \(target) must not import \(module)")
      }
    }
  }

  @Test("C libraries stay behind one target: they are imported internally only")
  func libraries() {
    for target in Self.allowed.keys {
      for file in Self.swiftFiles(below: "\(Self.sources)/\(target)") {
        let text = Self.text(of: file)
        #expect(!text.contains("package import C"), "\(file) shows a C library to others")
        #expect(!text.contains("public import"), "\(file) has a public import")
      }
    }
  }

  @Test("Every target with sources is in the table")
  func completeness() {
    let targets = Self.names(in: Self.sources).filter { name in
      !Self.swiftFiles(below: "\(Self.sources)/\(name)").isEmpty
    }
    #expect(Set(targets) == Set(Self.allowed.keys))
  }

  private static var sources: String {
    let file = #filePath
    return file.split(separator: "/").dropLast(3).map { "/\($0)" }.joined() + "/Sources"
  }

  private static func imports(in file: String) -> [(line: Int, module: String)] {
    text(of: file).split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      .compactMap { index, line in
        let words = line.split(separator: " ")
        guard let keyword = words.firstIndex(of: "import"), keyword <= 2, words.count > keyword + 1
        else { return nil }
        let modifiers = words[..<keyword]
        let known = ["package", "internal", "public", "private", "fileprivate", "@testable"]
        guard modifiers.allSatisfy({ known.contains(String($0)) }) else { return nil }
        return (index + 1, String(words[keyword + 1]))
      }
  }

  private static func swiftFiles(below folder: String) -> [String] {
    names(in: folder).flatMap { name -> [String] in
      let path = "\(folder)/\(name)"
      return name.hasSuffix(".swift") ? [path] : swiftFiles(below: path)
    }
  }

  private static func names(in folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  private static func text(of file: String) -> String {
    guard let stream = unsafe fopen(file, "r") else { return "" }
    defer { unsafe fclose(stream) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = unsafe fread(&chunk, 1, chunk.count, stream), count > 0 {
      bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
