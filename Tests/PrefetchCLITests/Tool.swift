@unsafe @preconcurrency import Glibc

/// An installed program that is run to its end.
struct Tool {
  var path: String

  /// Finds a program; returns nil when it is not installed.
  init?(_ name: String) {
    let candidates = ["/usr/bin/\(name)", "/bin/\(name)", "/usr/local/bin/\(name)"]
    guard let path = candidates.first(where: { unsafe access($0, X_OK) == 0 }) else { return nil }
    self.path = path
  }

  static func isInstalled(_ name: String) -> Bool {
    Tool(name) != nil
  }

  /// Runs the program; returns its exit status and the output of both streams.
  func run(_ arguments: [String]) -> (status: Int32, output: String) {
    var template = Array("/tmp/prefetch-tool-XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&template)
    let outputPath = String(
      decoding: template.dropLast().map { UInt8(bitPattern: $0) },
      as: UTF8.self
    )
    defer {
      close(descriptor)
      unsafe unlink(outputPath)
    }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, 2)
    var words: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map {
      unsafe strdup($0)
    }
    defer { for index in unsafe words.indices { unsafe free(words[index]) } }
    unsafe words.append(nil)
    var child = pid_t()
    guard unsafe posix_spawn(&child, path, &actions, nil, words, environ) == 0 else {
      return (-1, "")
    }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return (status >> 8, RepositoryFile(path: outputPath).read() ?? "")
  }
}
