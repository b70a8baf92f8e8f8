import Glibc
import PrefetchConfig
import PrefetchCore
import PrefetchDocuments

/// A simulated machine with a few files, for loading configurations.
struct TestWorld: Sendable {
  var files: [String: [UInt8]] = [:]
  var variables: [String: String] = [:]
  var readableByOthers: Set<String> = []
  var standardInput = ""

  init(_ texts: [String: String] = [:]) {
    files = texts.mapValues { Array($0.utf8) }
  }

  /// Paths are below `/work`, the home is `/home/me`.
  var environment: ConfigurationEnvironment {
    let (files, variables, readable, input) = (files, variables, readableByOthers, standardInput)
    @Sendable func key(_ path: String) -> String {
      path.hasPrefix("/work/") ? String(path.dropFirst(6)) : path
    }
    return ConfigurationEnvironment(
      readFile: { path in files[key(path)].map { .success($0) } ?? .failure(.missing) },
      realPath: { path in files[key(path)] == nil ? nil : path },
      isReadableByOthers: { readable.contains(key($0)) },
      variable: { variables[$0] },
      currentDirectory: "/work",
      homeDirectory: "/home/me",
      standardInput: { .success(Array(input.utf8)) }
    )
  }

  func load(
    _ names: String...,
    change: (inout ConfigurationLoader) -> Void = { _ in }
  ) -> LoadedConfiguration {
    var loader = ConfigurationLoader()
    loader.files = names
    change(&loader)
    return loader.load(in: environment)
  }
}

/// Loads a YAML text as the only file.
func load(
  yaml: String,
  variables: [String: String] = [:],
  change: (inout ConfigurationLoader) -> Void = { _ in }
) -> LoadedConfiguration {
  var world = TestWorld(["prefetch.yaml": yaml])
  world.variables = variables
  return world.load("prefetch.yaml", change: change)
}

extension LoadedConfiguration {
  /// All diagnostics as a terminal shows them.
  var rendered: String {
    diagnostics
      .map { DiagnosticRenderer().render($0, line: sourceLine) }
      .joined(separator: "\n\n") + "\n"
  }

  var codes: [String] {
    diagnostics.map(\.code.description)
  }

  /// The canonical value at a path of keys and indices.
  func canonical(_ path: String) -> JSONValue? {
    path.split(separator: ".").reduce(canonical as JSONValue?) { value, step in
      switch value {
      case .object(let members): members.first { $0.0 == step }?.1
      case .array(let values): Int(step).flatMap { values.indices.contains($0) ? values[$0] : nil }
      default: nil
      }
    }
  }
}

/// Snapshot files of the tests.
enum Snapshots {
  static let folder =
    "\(#filePath.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" })/Snapshots"

  static var isRecording: Bool {
    unsafe getenv("PREFETCH_RECORD") != nil
  }

  static func names(in subfolder: String) -> [String] {
    guard let handle = unsafe opendir("\(folder)/\(subfolder)") else { return [] }
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

  static func read(_ name: String) -> [UInt8]? {
    guard let file = unsafe fopen("\(folder)/\(name)", "rb") else { return nil }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe fread(&buffer, 1, buffer.count, file)
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  static func write(_ text: String, to name: String) {
    guard let file = unsafe fopen("\(folder)/\(name)", "wb") else { return }
    defer { unsafe fclose(file) }
    let bytes = Array(text.utf8)
    _ = unsafe fwrite(bytes, 1, bytes.count, file)
  }

  /// Returns the recorded text, after recording the actual one on request.
  static func expected(_ name: String, actual: String) -> String {
    if isRecording { write(actual, to: name) }
    return read(name).map { String(decoding: $0, as: UTF8.self) } ?? "no snapshot \(name)"
  }
}
