/// A value that several hold and nobody changes: handing it on copies one reference.
package final class Shared<Value: Sendable>: Sendable {
  private let held: Value

  /// Lent, not copied: some of them hold a dozen arrays.
  package var value: Value {
    _read { yield held }
  }

  package init(_ value: Value) {
    held = value
  }
}
