struct XMLFault: Error {
  enum Problem {
    case cause(String)
    case unclosed
    case mismatchedTag
    case noElement
    case badToken
    case undefinedEntity
    case afterEnd
    case duplicateAttribute
  }

  var problem: Problem
  var byte: Int
}

extension XMLFault.Problem {
  var message: String {
    switch self {
    case .noElement: "the document ends too early, an element is not closed"
    case .unclosed: "this is not closed before the document ends"
    case .mismatchedTag: "this end tag does not fit the element that is open"
    case .badToken: "this is not XML"
    case .undefinedEntity: "the entity is not known"
    case .afterEnd: "the document ends before this"
    case .duplicateAttribute: "an attribute is written twice"
    case .cause(let text): "the XML cannot be read: \(text)"
    }
  }

  var isUndefinedEntity: Bool {
    if case .undefinedEntity = self { true } else { false }
  }
}
