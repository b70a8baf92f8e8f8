/// Stored response of an item, decoded only when a caller reads it.
package protocol StoredResponse: AnyObject, Sendable {
  var url: String { get }
  /// Whether the stored headers alone decide whether a 304 confirms the body.
  var suitsSimpleItem: Bool { get }
  var confirmable: Confirmable? { get }
  /// Full record; nil if the row cannot be read.
  var record: ContentRecord? { get }
}

/// Stored facts from which a conditional request is made and by which its response is judged.
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

extension Shared: StoredResponse where Value == ContentRecord {
  package var url: String { value.url }
  package var record: ContentRecord? { value }

  package var suitsSimpleItem: Bool {
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
