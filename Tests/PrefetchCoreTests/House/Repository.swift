import Glibc

/// Files of the repository that the tests were built from, by their paths in it.
enum Repository {
  private static let root: String = {
    let file = #filePath
    return file.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
  }()

  static func swiftFiles(below folder: String) -> [String] {
    names(in: folder).flatMap { name -> [String] in
      let path = "\(folder)/\(name)"
      return name.hasSuffix(".swift") ? [path] : swiftFiles(below: path)
    }
  }

  /// Returns the names in a folder, sorted; none when the folder is missing.
  static func names(in folder: String) -> [String] {
    guard let stream = unsafe opendir("\(root)/\(folder)") else { return [] }
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

  /// Empty where nothing can be read.
  static func text(of path: String) -> [UInt8] {
    guard let stream = unsafe fopen("\(root)/\(path)", "r") else { return [] }
    defer { unsafe fclose(stream) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = unsafe fread(&chunk, 1, chunk.count, stream), count > 0 {
      bytes += chunk[..<count]
    }
    return bytes
  }
}
