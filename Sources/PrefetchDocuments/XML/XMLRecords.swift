/// Paths of the records in a kind of XML document, and which of their parts to keep.
package struct XMLShape: Sendable {
  /// Paths to records, as local names from the root.
  package var records: [[String]]
  /// Paths to single elements whose text is wanted, such as the document's date.
  package var facts: [[String]]
  /// Descendants of a record that are kept: local names, or qualified names of other vocabularies.
  package var kept: Set<String>
  /// Elements that are kept with all their content, up to ``XMLRecords/openElements``.
  package var open: Set<String> = []
  /// Byte limits of elements with long text, which do not count towards the record's limit.
  package var bulky: [String: Int] = [:]

  package init(records: [[String]], facts: [[String]] = [], kept: Set<String>) {
    self.records = records
    self.facts = facts
    self.kept = kept
  }
}

/// Receiver of the root's tag, then of facts and records in document order.
package protocol XMLRecordReceiver: AnyObject {
  /// Returns the document's shape; nil for a document of another kind.
  func shape(of root: XMLElement) -> XMLShape?
  func fact(_ element: XMLElement)
  func record(_ element: XMLElement) -> Bool
}

package struct XMLReadingFault: Error, Hashable, Sendable {
  package var message: String
  package var byte: Int
}

/// Reads many similar elements one by one, so that memory use stays constant.
///
/// Names are compared without prefix; elements with another prefix than the root's are skipped.
package enum XMLRecords {
  package static let maximumDepth = 32
  /// Largest number of elements, and of text bytes, kept per record.
  package static let maximumElements = 10_000
  package static let maximumText = 1 << 20
  /// Largest number of elements kept per record inside open ones, and of text bytes of each.
  package static let openElements = 500
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

private final class XMLRecordSink: XMLSink {
  private let receiver: any XMLRecordReceiver
  private var shape: XMLShape?
  private var prefix: Substring = ""
  private var path: [String] = []
  private var open: [XMLElement] = []
  private var skipped = 0
  private var isRecord = false
  private var elementCount = 0
  private var textCount = 0
  private var openCount = 0
  fileprivate(set) var fault: XMLReadingFault?
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
      if !isWithinOpen { elementCount += 1 }
      guard elementCount <= XMLRecords.maximumElements else {
        return fail("it holds more than \(XMLRecords.maximumElements) elements", at: bytes)
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
      return openCount <= XMLRecords.openElements
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
    (elementCount, textCount, openCount) = (0, 0, 0)
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
    let top = open.count - 1
    let ownLimit = isWithinOpen ? XMLRecords.openText : shape?.bulky[open[top].name]
    if let limit = ownLimit {
      guard !open[top].isCut, open[top].text.utf8.count + text.count <= limit else {
        (open[top].isCut, open[top].text) = (true, "")
        return
      }
      open[top].text += String(decoding: text, as: UTF8.self)
      return
    }
    textCount += text.count
    guard textCount <= XMLRecords.maximumText else {
      return fail("it holds more than \(XMLRecords.maximumText) bytes of text", at: bytes)
    }
    open[open.count - 1].text += String(decoding: text, as: UTF8.self)
  }

  /// Keeps the reference as written; dropping it could silently change a URL.
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
