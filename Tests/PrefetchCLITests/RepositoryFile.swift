import Glibc
import Testing

/// A file of the repository that a test makes again and compares.
struct RepositoryFile {
  var path: String

  static func snapshot(_ name: String) -> Self {
    Self(path: folder + "/Snapshots/" + name)
  }

  /// Below the top of the repository.
  static func top(_ name: String) -> Self {
    Self(path: folder + "/../../" + name)
  }

  /// Names of the files in a folder below the top of the repository, in order.
  static func names(in folder: String) -> [String] {
    guard let handle = unsafe opendir(top(folder).path) else { return [] }
    defer { unsafe closedir(handle) }
    var names: [String] = []
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  private static var folder: String {
    let file = #filePath
    return String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)])
  }

  func expect(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
    if unsafe getenv("PREFETCH_RECORD").map({ unsafe String(cString: $0) }) == "1" {
      write(text)
    }
    let recorded = read()
    #expect(
      recorded == text,
      "\(path) is out of date; look at the difference, then record it with PREFETCH_RECORD=1",
      sourceLocation: sourceLocation
    )
  }

  func read() -> String? {
    guard let file = unsafe fopen(path, "r") else { return nil }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = unsafe fread(&chunk, 1, chunk.count, file), count > 0 {
      bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  func write(_ text: String) {
    guard let file = unsafe fopen(path, "w") else { return }
    defer { unsafe fclose(file) }
    unsafe fputs(text, file)
  }

  func remove() {
    _ = unsafe unlink(path)
  }
}
