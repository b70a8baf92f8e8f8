/// What the store has of an item, taken apart only where a caller looks at it.
package protocol StoredAnswer: AnyObject, Sendable {
  var url: String { get }
  /// Whether its headers alone decide if another answer confirms it.
  var isPlain: Bool { get }
  /// What a question about it needs; nil for what cannot be read.
  var confirmable: Confirmable? { get }
  /// All of it; nil for what cannot be read.
  var record: ContentRecord? { get }
}

/// What is asked with, and what the answer is held against.
package struct Confirmable: Sendable {
  package let headers: HeaderBlock
  package let validators: Validators
  package let receivedAt: Instant?

  package init(headers: HeaderBlock, validators: Validators, receivedAt: Instant?) {
    self.headers = headers
    self.validators = validators
    self.receivedAt = receivedAt
  }

  var conditions: Validators {
    Revalidation.conditions(validators, stored: headers, receivedAt: receivedAt)
  }
}

/// Where all of it is at hand.
extension Shared: StoredAnswer where Value == ContentRecord {
  package var url: String { value.url }
  package var record: ContentRecord? { value }

  package var isPlain: Bool {
    value.failure == nil && value.variance == nil && value.hops.isEmpty && value.finalURL == nil
      && !value.isImported
  }

  package var confirmable: Confirmable? {
    Confirmable(
      headers: value.headers,
      validators: value.validators,
      receivedAt: value.validatedAt ?? value.fetchedAt
    )
  }
}
