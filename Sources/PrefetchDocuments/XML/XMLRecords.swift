/// Where the records of a kind of XML documents are, and what of them is wanted.
package struct XMLShape: Sendable {
  /// The local names from the root to a record.
  package var records: [[String]]
  /// The same to elements beside them whose text is wanted, such as the date of the whole.
  package var facts: [[String]]
  /// What is kept within a record, however deep, by its local name, or with the prefix of another
  /// vocabulary; all else is passed over.
  package var kept: Set<String>
  /// Elements of which everything within is kept, as long as it is little: ``XMLRecords/openParts``.
  package var open: Set<String> = []
  /// Elements whose text may be long, and how many bytes of it are kept; it does not count for the
  /// record's bound.
  package var bulky: [String: Int] = [:]

  package init(records: [[String]], facts: [[String]] = [], kept: Set<String>) {
    self.records = records
    self.facts = facts
    self.kept = kept
  }
}

/// Who is given the root's tag, then the facts and records of a document in their order.
package protocol XMLRecordReceiver: AnyObject {
  /// Returns what is to be told of it, nil for a document of another kind.
  func shape(of root: XMLElement) -> XMLShape?
  func fact(_ element: XMLElement)
  /// False ends the reading; the receiver knows why.
  func record(_ element: XMLElement) -> Bool
}

/// Why a document cannot be read on.
package struct XMLReadingFault: Error, Hashable, Sendable {
  package var message: String
  package var byte: Int
}

/// A document of many like elements, read one after the other, so that memory stays flat.
///
/// Names are compared without their prefixes, and elements with another prefix than the root's are
/// of other vocabularies and passed over.
package enum XMLRecords {
  /// Elements within each other.
  package static let maximumDepth = 32
  /// Elements and bytes of text that are kept of one record.
  package static let maximumParts = 10_000
  package static let maximumText = 1 << 20
  /// Elements within open ones that are kept of one record, and bytes of text of each; more is passed
  /// over.
  package static let openParts = 500
  package static let openText = 4_096

  package static func read(
    _ bytes: RawSpan,
    for receiver: any XMLRecordReceiver
  ) throws(XMLReadingFault) {
    let sink = XMLRecordSink(receiver)
    guard let parser = XMLParser(sink: sink, encoding: nil) else {
      throw XMLReadingFault(message: "no memory to read the document", byte: 0)
    }
    sink.parser = parser
    defer { sink.parser = nil }
    do {
      try parser.parse(bytes)
    } catch {
      throw XMLReadingFault(message: error.problem.message, byte: error.byte)
    }
    if let fault = sink.fault { throw fault }
  }
}

/// Puts records together from what the parser tells.
private final class XMLRecordSink: XMLSink {
  private let receiver: any XMLRecordReceiver
  private var shape: XMLShape?
  private var prefix: Substring = ""
  /// Local names from the root to the element that is open.
  private var path: [String] = []
  /// The record or fact that is open, and what is open within it.
  private var open: [XMLElement] = []
  /// How many elements within the kept ones are passed over.
  private var skipped = 0
  private var isRecord = false
  private var partCount = 0
  private var textCount = 0
  private var openCount = 0
  fileprivate(set) var fault: XMLReadingFault?
  /// Ends the parse; set before it starts, dropped after it.
  var parser: XMLParser?

  init(_ receiver: any XMLRecordReceiver) {
    self.receiver = receiver
  }

  func declaration(encoding: String?, at bytes: Range<Int>) {
    let known = ["utf-8", "utf8", "us-ascii", "iso-8859-1"]
    guard let encoding, !known.contains(encoding.lowercased()) else { return }
    fail("the document says it is written in `\(encoding.quotable)`; save it as UTF-8", at: bytes)
  }

  func entityDeclaration(at bytes: Range<Int>) {
    fail("a manifest may not declare entities; write the text where it is used", at: bytes)
  }

  func startElement(_ name: String, _ attributes: [XMLAttribute], at bytes: Range<Int>) {
    guard path.count < XMLRecords.maximumDepth else {
      return fail("elements are nested deeper than \(XMLRecords.maximumDepth)", at: bytes)
    }
    let (prefix, local) = Self.split(name)
    if path.isEmpty { return root(prefix, local, attributes, at: bytes) }
    let isForeign = prefix != self.prefix
    let known = isForeign ? name : local
    path.append(known)
    if skipped > 0 {
      skipped += 1
    } else if !open.isEmpty {
      guard isRecord, isKept(known) else {
        skipped = 1
        return
      }
      if !isWithinOpen { partCount += 1 }
      guard partCount <= XMLRecords.maximumParts else {
        return fail("it holds more than \(XMLRecords.maximumParts) elements", at: bytes)
      }
      open.append(XMLElement(known, attributes, byte: bytes.lowerBound))
    } else if !isForeign {
      begin(local, attributes, at: bytes)
    }
  }

  private func isKept(_ name: String) -> Bool {
    guard let shape else { return false }
    if isWithinOpen {
      openCount += 1
      return openCount <= XMLRecords.openParts
    }
    return shape.kept.contains(name)
  }

  private var isWithinOpen: Bool {
    guard let shape, !shape.open.isEmpty else { return false }
    return open.contains { shape.open.contains($0.name) }
  }

  private func root(
    _ prefix: Substring,
    _ local: String,
    _ attributes: [XMLAttribute],
    at bytes: Range<Int>
  ) {
    self.prefix = prefix
    path = [local]
    shape = receiver.shape(of: XMLElement(local, attributes, byte: bytes.lowerBound))
    if shape == nil { fail("`<\(local.quotable)>` is not the element to begin with", at: bytes) }
  }

  private func begin(_ local: String, _ attributes: [XMLAttribute], at bytes: Range<Int>) {
    guard let shape else { return }
    let isRecord = shape.records.contains(path)
    guard isRecord || shape.facts.contains(path) else { return }
    self.isRecord = isRecord
    (partCount, textCount, openCount) = (0, 0, 0)
    open = [XMLElement(local, attributes, byte: bytes.lowerBound)]
  }

  func endElement(at bytes: Range<Int>) {
    path.removeLast()
    guard skipped == 0 else {
      skipped -= 1
      return
    }
    guard var element = open.popLast() else { return }
    element.text = element.text.withoutXMLSpaceAround
    if open.isEmpty {
      deliver(element)
    } else {
      open[open.count - 1].children.append(element)
    }
  }

  private func deliver(_ element: XMLElement) {
    guard isRecord else { return receiver.fact(element) }
    if !receiver.record(element) { parser?.stop() }
  }

  func characters(_ text: [UInt8], at bytes: Range<Int>) {
    guard skipped == 0, !open.isEmpty else { return }
    let place = open.count - 1
    let ownLimit = isWithinOpen ? XMLRecords.openText : shape?.bulky[open[place].name]
    if let limit = ownLimit {
      guard !open[place].isCut, open[place].text.utf8.count + text.count <= limit else {
        (open[place].isCut, open[place].text) = (true, "")
        return
      }
      open[place].text += String(decoding: text, as: UTF8.self)
      return
    }
    textCount += text.count
    guard textCount <= XMLRecords.maximumText else {
      return fail("it holds more than \(XMLRecords.maximumText) bytes of text", at: bytes)
    }
    open[open.count - 1].text += String(decoding: text, as: UTF8.self)
  }

  /// It stays as it is written: without it a URL would silently be another one.
  func unknownEntity(_ name: String, at bytes: Range<Int>) {
    characters(Array("&\(name);".utf8), at: bytes)
  }

  private func fail(_ message: String, at bytes: Range<Int>) {
    fault = fault ?? XMLReadingFault(message: message, byte: bytes.lowerBound)
    parser?.stop()
  }

  private static func split(_ name: String) -> (prefix: Substring, local: String) {
    guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")) else { return ("", name) }
    return (name[..<colon], String(name[name.utf8.index(after: colon)...]))
  }
}
