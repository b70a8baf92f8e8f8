@unsafe @preconcurrency internal import Glibc

package struct ProcessEnvironment: Hashable, Sendable {
  package var variables: [String: String]
  package var currentDirectory: String
  /// `$HOME`, or the user database's entry; nil when neither is an absolute path.
  package var homeDirectory: String?
  package var hostName: String

  package static func current() -> Self {
    let variables = readVariables()
    let home = variables["HOME"] ?? homeFromUserDatabase()
    return Self(
      variables: variables,
      currentDirectory: readCurrentDirectory(),
      homeDirectory: home.flatMap { $0.hasPrefix("/") ? $0 : nil },
      hostName: readHostName()
    )
  }

  package static func isTerminal(_ descriptor: Int32) -> Bool {
    isatty(descriptor) == 1
  }

  private static func readVariables() -> [String: String] {
    var variables: [String: String] = Dictionary(minimumCapacity: 64)
    guard var next = unsafe Optional(environ) else { return [:] }
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      unsafe next += 1
    }
    return variables
  }

  private static func readCurrentDirectory() -> String {
    let link = "/proc/self/cwd"
    // Through the link, a folder without a path, such as a removed one, fails where it is used.
    guard let path = unsafe getcwd(nil, 0) ?? realpath(link, nil) else { return link }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }

  private static func homeFromUserDatabase() -> String? {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
      guard let start = buffer.baseAddress,
        unsafe getpwuid_r(getuid(), &entry, start, buffer.count, &found) == 0,
        unsafe found != nil, let home = unsafe entry.pw_dir
      else { return nil }
      return unsafe String(cString: home)
    }
  }

  private static func readHostName() -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let start = buffer.baseAddress, unsafe gethostname(start, buffer.count - 1) == 0 else {
        return "localhost"
      }
      unsafe buffer[buffer.count - 1] = 0
      return unsafe String(cString: start)
    }
  }
}
