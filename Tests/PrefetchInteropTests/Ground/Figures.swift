@unsafe @preconcurrency import Glibc
import Synchronization
import Testing

/// Counts of a suite that plays cases by the thousand: printed at its end, and appended as a line
/// of JSON to the file that `PREFETCH_FIGURES` names.
final class Figures: Sendable {
  private struct State {
    var tried = 0
    var failed = 0
    var kinds: Set<String> = []
  }

  /// Name of the table's row, such as `hostile`.
  let row: String
  /// Name of the things that the cases are made of, as in `12 behaviours`.
  private let noun: String
  private let seed: UInt64
  private let state = Mutex(State())

  init(_ row: String, of noun: String, seed: UInt64) {
    self.row = row
    self.noun = noun
    self.seed = seed
  }

  /// Records cases, and the different things that they were made of.
  func record(tried: Int = 1, failed: Int = 0, kinds: some Sequence<String> = []) {
    state.withLock { state in
      state.tried += tried
      state.failed += failed
      state.kinds.formUnion(kinds)
    }
  }

  func publish() {
    let (tried, failed, kinds) = state.withLock { ($0.tried, $0.failed, $0.kinds.count) }
    guard tried > 0 else { return }
    print("\(row): \(tried) cases, \(kinds) \(noun)")
    guard let path = Binary.figuresPath else { return }
    let line = #"{"row":"\#(row)","tried":\#(tried),"failed":\#(failed),"seed":\#(seed)}"# + "\n"
    // Written at once, since suites of other processes append to the same file.
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard file >= 0 else { return }
    _ = unsafe write(file, line, line.utf8.count)
    close(file)
  }
}

/// Publishes a suite's figures after its last test.
struct FiguresTrait: SuiteTrait, TestScoping {
  let figures: Figures

  func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    defer { figures.publish() }
    try await function()
  }
}

extension Trait where Self == FiguresTrait {
  static func figures(_ figures: Figures) -> Self {
    FiguresTrait(figures: figures)
  }
}
