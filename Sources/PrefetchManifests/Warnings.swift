internal import PrefetchCore

struct Warnings {
  private static let maximum = 100

  private var first: [Diagnostic] = []
  private var unsaidCount = 0

  mutating func add(_ warning: Diagnostic) {
    if first.count < Self.maximum {
      first.append(warning)
    } else {
      unsaidCount += 1
    }
  }

  var all: [Diagnostic] {
    guard unsaidCount > 0 else { return first }
    let message = "\(unsaidCount) more like these are not shown"
    return first + [Diagnostic("manifest.more", message, severity: .note)]
  }
}
