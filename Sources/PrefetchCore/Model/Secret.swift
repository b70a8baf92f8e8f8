/// Text that is sent where it belongs and never shown: every description is ``mask``.
package struct Secret: Hashable, Sendable {
  package static let mask = "***"

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
