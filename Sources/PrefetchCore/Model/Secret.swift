/// Text that may be sent to where it belongs and is never shown.
package struct Secret: Hashable, Sendable {
  package static let mask = "***"

  /// The text itself, for the one who sends it.
  package var value: String

  package init(_ value: String) {
    self.value = value
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { Self.mask }

  package var debugDescription: String { Self.mask }

  package var customMirror: Mirror { Mirror(self, children: []) }
}
