/// A value that several hold and none changes: handing it on copies one reference.
package final class Shared<Value: Sendable>: Sendable {
  package let value: Value

  package init(_ value: Value) {
    self.value = value
  }
}
