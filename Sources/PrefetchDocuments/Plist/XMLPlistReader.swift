internal import PrefetchCore

/// Reads an XML property list from parser events; the first fault stops it.
final class XMLPlistReader: XMLSink {
  private struct Leaf {
    var element: PlistElement
    var tag: SourceLocation
    var start: Int
    var text: [UInt8] = []
  }

  private let bytes: [UInt8]
  private let source: String
  private var builder: TreeBuilder
  private var cursor: TextCursor
  private var leaf: Leaf?
  private var hasRoot = false
  private var fault: Diagnostic?
  /// Parser, set during the parse only, in order to stop it.
  private var parser: XMLParser?

  private init(_ text: SourceText, _ builder: TreeBuilder) {
    bytes = text.bytes
    source = text.source
    cursor = TextCursor(text)
    self.builder = builder
  }

  static func read(_ text: SourceText, into builder: inout TreeBuilder) throws(Diagnostic) {
    let reader = XMLPlistReader(text, builder)
    defer { builder = reader.builder }
    try reader.run()
  }

  private func run() throws(Diagnostic) {
    guard let parser = XMLParser(sink: self) else {
      throw Diagnostic("document.syntax", "no memory to read the document", file: source)
    }
    self.parser = parser
    defer { self.parser = nil }
    let bytes = bytes
    do {
      try unsafe parser.parse(bytes.span.bytes)
    } catch {
      throw diagnostic(for: error)
    }
    if let fault { throw fault }
    guard builder.root != nil else {
      throw Diagnostic(
        "document.empty",
        "the property list holds no value",
        file: source,
        at: location(0..<1)
      )
    }
  }

  // MARK: Facts

  func declaration(encoding: String?, at bytes: Range<Int>) {
    guard let encoding, !["utf-8", "utf8"].contains(encoding.lowercased()) else { return }
    fail(
      Diagnostic(
        "document.encoding",
        "the document says it is written in `\(encoding.quotable)`",
        hint: "save it as UTF-8 and say `encoding=\"UTF-8\"`",
        at: location(bytes)
      )
    )
  }

  func entityDeclaration(at bytes: Range<Int>) {
    fail(
      Diagnostic(
        "document.entity",
        "a plist may not declare entities",
        hint: "write the text where it is used",
        at: location(bytes)
      )
    )
  }

  func unknownEntity(_ name: String, at bytes: Range<Int>) {
    fail(diagnostic(for: XMLFault(problem: .undefinedEntity, byte: bytes.lowerBound)))
  }

  func startElement(_ name: String, _ attributes: [XMLAttribute], at bytes: Range<Int>) {
    let tag = location(bytes)
    attempt { () throws(Diagnostic) in try start(name, tag, end: bytes.upperBound) }
  }

  func endElement(at bytes: Range<Int>) {
    attempt { () throws(Diagnostic) in try end(at: bytes.lowerBound) }
  }

  func characters(_ text: [UInt8], at bytes: Range<Int>) {
    guard leaf == nil else {
      leaf?.text += text
      return
    }
    guard let stray = text.firstIndex(where: { !$0.isXMLSpace }) else { return }
    let start = text.count == bytes.count ? bytes.lowerBound + stray : bytes.lowerBound
    fail(
      Diagnostic(
        "document.syntax",
        "text is outside of an element",
        hint: "put it into `<string>`",
        at: location(start..<bytes.upperBound)
      )
    )
  }

  private func attempt(_ step: () throws(Diagnostic) -> Void) {
    do {
      try step()
    } catch {
      fail(error)
    }
  }

  private func fail(_ diagnostic: Diagnostic) {
    fault = fault ?? diagnostic
    parser?.stop()
  }

  private func location(_ bytes: Range<Int>) -> SourceLocation {
    cursor.location(fromByte: bytes.lowerBound, toByte: bytes.upperBound)
  }
}

// MARK: - Elements

extension XMLPlistReader {
  private func start(_ name: String, _ tag: SourceLocation, end: Int) throws(Diagnostic) {
    guard hasRoot else {
      guard name == "plist" else {
        throw fault("`<\(name.quotable)>` is not a property list, expected `<plist>`", at: tag)
      }
      hasRoot = true
      return
    }
    guard let element = PlistElement(rawValue: name) else {
      throw fault(
        "`<\(name.quotable)>` is not an element of a property list",
        at: tag,
        hint: Suggestion.nearest(to: name, among: PlistElement.allCases.map(\.rawValue))
          .map { "did you mean `<\($0)>`?" }
      )
    }
    if let leaf {
      throw fault("`<\(leaf.element.rawValue)>` holds text, not `<\(name)>`", at: tag)
    }
    try checkNesting(of: element, tag)
    switch element {
    case .dict: try builder.open(.mapping, at: tag)
    case .array: try builder.open(.sequence, at: tag)
    case .key, .string, .integer, .real, .date, .data, .true, .false:
      leaf = Leaf(element: element, tag: tag, start: end)
    }
  }

  private func checkNesting(of element: PlistElement, _ tag: SourceLocation) throws(Diagnostic) {
    if builder.depth == 0 {
      guard element != .key else { throw fault("`<key>` is outside of a `<dict>`", at: tag) }
      guard builder.root == nil else { throw fault("a property list holds one value", at: tag) }
      return
    }
    guard builder.isInMapping else {
      guard element != .key else { throw fault("`<key>` is outside of a `<dict>`", at: tag) }
      return
    }
    if builder.awaitsKey, element != .key {
      throw fault("`<\(element.rawValue)>` has no `<key>` before it", at: tag)
    }
    if !builder.awaitsKey, element == .key {
      throw fault("the key before this `<key>` has no value", at: tag)
    }
  }

  private func end(at byte: Int) throws(Diagnostic) {
    if let leaf {
      self.leaf = nil
      try add(leaf, end: byte)
      return
    }
    guard builder.depth > 0 else { return }
    guard !builder.isInMapping || builder.awaitsKey else {
      throw fault("the last key of this `<dict>` has no value", at: location(byte..<byte + 1))
    }
    try builder.close()
  }

  private func add(_ leaf: Leaf, end: Int) throws(Diagnostic) {
    let location = location(of: leaf, end: end)
    let text = String(decoding: leaf.text, as: UTF8.self)
    guard leaf.element != .key else { return try builder.key(text, at: location) }
    guard let scalar = leaf.element.scalar(text) else {
      throw Diagnostic(
        "document.syntax",
        leaf.element.complaint(about: text),
        path: builder.path,
        at: location
      )
    }
    try builder.add(scalar, at: location)
  }

  /// Returns the location of the text, or of the tag when the text is empty.
  private func location(of leaf: Leaf, end: Int) -> SourceLocation {
    var range = leaf.start..<max(leaf.start, end)
    while let first = range.first, bytes[first].isXMLSpace { range.removeFirst() }
    while let last = range.last, bytes[last].isXMLSpace { range.removeLast() }
    return range.isEmpty ? leaf.tag : location(range)
  }

  private func fault(
    _ message: String,
    at location: SourceLocation,
    hint: String? = nil
  ) -> Diagnostic {
    Diagnostic("document.syntax", message, hint: hint, path: builder.path, at: location)
  }
}

// MARK: - Faults of the XML itself

extension XMLPlistReader {
  private func diagnostic(for fault: XMLFault) -> Diagnostic {
    let location = location(fault.byte..<fault.byte + 1)
    let code: Diagnostic.Code =
      fault.problem.isUndefinedEntity ? "document.entity" : "document.syntax"
    let hint: String? =
      switch fault.problem {
      case .badToken: "in text, write `&` as `&amp;` and `<` as `&lt;`"
      case .undefinedEntity: "XML itself knows `&amp;` `&lt;` `&gt;` `&quot;` `&apos;`"
      case .cause, .unclosed, .mismatchedTag, .noElement, .afterEnd, .duplicateAttribute: nil
      }
    let path = fault.problem.isUndefinedEntity ? nil : builder.path
    return Diagnostic(code, fault.problem.message, hint: hint, path: path, at: location)
  }
}
