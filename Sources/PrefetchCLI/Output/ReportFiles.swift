import PrefetchConfig
import PrefetchCore
import PrefetchSystem

struct ReportFiles {
  private let destinations: [ReportDestination]
  /// Earlier content of metrics files, which are continued.
  private let previous: [String: WrittenMetrics]

  /// Limit in bytes, enough for metrics of ten thousand segments.
  private static let mostPrevious = 16 << 20

  /// Puts pipes and appended files last, since they cannot be rewritten.
  init(_ destinations: [ReportDestination]) {
    let files = destinations.filter { $0.path != "-" }
    self.destinations =
      files.filter { AtomicFile.replaces($0.path) } + files.filter { !AtomicFile.replaces($0.path) }
    var previous: [String: WrittenMetrics] = [:]
    for file in self.destinations where file.format == .prometheus {
      guard AtomicFile.replaces(file.path),
        let bytes = try? FileReading.read(file.path, limit: Self.mostPrevious)
      else { continue }
      previous[file.path] = WrittenMetrics(String(decoding: bytes, as: UTF8.self))
    }
    self.previous = previous
  }

  /// Returns configured files, then those of the command line; a dry run uses only the latter.
  static func destinations(
    _ configuration: Configuration?,
    _ engine: EngineOptions,
    isPlan: Bool
  ) -> [ReportDestination] {
    let files = isPlan ? [:] : configuration?.report.files ?? [:]
    let configured = files.sorted { $0.key < $1.key }.compactMap { format, path in
      ReportFormat(rawValue: format).map { ReportDestination(format: $0, path: path) }
    }
    return configured + engine.reports
  }

  /// Writes all files; if one fails, the others are written again to report that.
  func write(_ envelope: inout ReportEnvelope) -> [Diagnostic] {
    var written: [ReportDestination] = []
    var troubles: [Diagnostic] = []
    for destination in destinations {
      do throws(Failure) {
        try write(envelope, to: destination)
        if AtomicFile.replaces(destination.path) { written.append(destination) }
      } catch {
        troubles.append("report.write", "the report `\(destination.path)`: \(error.message)")
      }
    }
    envelope.recordWriteFailures(troubles)
    guard !troubles.isEmpty else { return [] }
    for destination in written {
      // Usually succeeds, as it just did; otherwise the first version stays.
      try? write(envelope, to: destination)
    }
    return troubles
  }

  private func write(
    _ envelope: ReportEnvelope,
    to destination: ReportDestination
  ) throws(Failure) {
    let path =
      destination.path.hasPrefix("+") ? destination.path.dropFirst() : destination.path[...]
    try FolderCreation.make(String(PathText.split(String(path)).folder))
    let previous = previous[destination.path] ?? WrittenMetrics()
    guard AtomicFile.replaces(destination.path) else {
      // Runs that append to the same file must not mix their pieces.
      var whole: [UInt8] = []
      ReportRendering.write(envelope, as: destination.format, previous: previous) { bytes in
        unsafe bytes.withUnsafeBytes { unsafe whole.append(contentsOf: $0) }
      }
      return try AtomicFile.write(whole, to: destination.path)
    }
    var file = try AtomicFile(path: destination.path)
    try ReportRendering.write(envelope, as: destination.format, previous: previous) {
      (bytes) throws(Failure) in try file.write(bytes)
    }
    try file.commit()
  }
}
