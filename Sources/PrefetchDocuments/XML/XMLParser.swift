internal import CExpat

/// Receiver of parser events, each with its byte range in the text.
protocol XMLSink: AnyObject {
  func declaration(encoding: String?, at bytes: Range<Int>)
  func entityDeclaration(at bytes: Range<Int>)
  func startElement(_ name: String, _ attributes: [XMLAttribute], at bytes: Range<Int>)
  func endElement(at bytes: Range<Int>)
  func characters(_ text: [UInt8], at bytes: Range<Int>)
  /// Reports a reference to an entity that only an external document type could declare.
  func unknownEntity(_ name: String, at bytes: Range<Int>)
}

package struct XMLAttribute: Hashable, Sendable {
  package var name: String
  package var value: String
}

/// Runs expat; external entities are never fetched, and a given encoding overrides the text's.
@safe
final class XMLParser {
  private let parser: XML_Parser
  private let sink: any XMLSink
  private var isStopped = false
  /// Text collected from expat's line-by-line events and reported at the next markup.
  private var text: [UInt8] = []
  private var textBytes = 0..<0

  init?(sink: any XMLSink, encoding: String? = "UTF-8") {
    guard let parser = unsafe XML_ParserCreate(encoding) else { return nil }
    unsafe self.parser = unsafe parser
    self.sink = sink
    unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    unsafe XML_SetXmlDeclHandler(parser, receiveDeclaration)
    unsafe XML_SetEntityDeclHandler(parser, receiveEntityDeclaration)
    unsafe XML_SetElementHandler(parser, receiveStart, receiveEnd)
    unsafe XML_SetCharacterDataHandler(parser, receiveCharacters)
    unsafe XML_SetSkippedEntityHandler(parser, receiveSkippedEntity)
  }

  deinit {
    unsafe XML_ParserFree(parser)
  }

  /// Parses the text; returns without a fault when the sink stopped the parser.
  func parse(_ bytes: RawSpan) throws(XMLFault) {
    let status = unsafe bytes.withUnsafeBytes { raw in
      let text = unsafe raw.bindMemory(to: CChar.self)
      return unsafe XML_Parse(parser, text.baseAddress, CInt(clamping: text.count), 1)
    }
    guard status != XML_STATUS_OK, !isStopped else { return }
    throw fault()
  }

  func stop() {
    isStopped = true
    unsafe XML_StopParser(parser, XML_Bool(0))
  }

  private func fault() -> XMLFault {
    let code = unsafe XML_GetErrorCode(parser)
    let problem: XMLFault.Problem =
      switch code {
      case XML_ERROR_NO_ELEMENTS: .noElement
      case XML_ERROR_UNCLOSED_TOKEN, XML_ERROR_PARTIAL_CHAR, XML_ERROR_UNCLOSED_CDATA_SECTION:
        .unclosed
      case XML_ERROR_TAG_MISMATCH: .mismatchedTag
      case XML_ERROR_INVALID_TOKEN: .badToken
      case XML_ERROR_UNDEFINED_ENTITY: .undefinedEntity
      case XML_ERROR_JUNK_AFTER_DOC_ELEMENT: .afterEnd
      case XML_ERROR_DUPLICATE_ATTRIBUTE: .duplicateAttribute
      default: .cause(message(for: code))
      }
    let byte = unsafe Int(XML_GetCurrentByteIndex(parser))
    return XMLFault(problem: problem, byte: max(0, byte))
  }

  private func message(for code: XML_Error) -> String {
    guard let text = unsafe XML_ErrorString(code) else { return "unknown error" }
    return unsafe String(cString: text)
  }

  // MARK: What the callbacks tell

  private var currentBytes: Range<Int> {
    let start = unsafe max(0, Int(XML_GetCurrentByteIndex(parser)))
    return unsafe start..<start + max(0, Int(XML_GetCurrentByteCount(parser)))
  }

  private func flush() {
    guard !text.isEmpty, !isStopped else { return }
    sink.characters(text, at: textBytes)
    text.removeAll(keepingCapacity: true)
  }

  fileprivate func declaration(encoding: String?) {
    guard !isStopped else { return }
    sink.declaration(encoding: encoding, at: currentBytes)
  }

  fileprivate func entityDeclaration() {
    guard !isStopped else { return }
    sink.entityDeclaration(at: currentBytes)
  }

  fileprivate func skippedEntity(_ name: String) {
    flush()
    guard !isStopped else { return }
    sink.unknownEntity(name, at: currentBytes)
  }

  fileprivate func start(_ name: String, _ attributes: [XMLAttribute]) {
    flush()
    guard !isStopped else { return }
    sink.startElement(name, attributes, at: currentBytes)
  }

  fileprivate func end() {
    flush()
    guard !isStopped else { return }
    sink.endElement(at: currentBytes)
  }

  fileprivate func characters(_ chunk: UnsafeRawBufferPointer) {
    let bytes = currentBytes
    textBytes = (text.isEmpty ? bytes.lowerBound : textBytes.lowerBound)..<bytes.upperBound
    unsafe text.append(contentsOf: chunk)
  }
}

private func receiver(_ data: UnsafeMutableRawPointer?) -> XMLParser? {
  guard let data = unsafe data else { return nil }
  return unsafe Unmanaged<XMLParser>.fromOpaque(data).takeUnretainedValue()
}

private func receiveDeclaration(
  _ data: UnsafeMutableRawPointer?,
  _ version: UnsafePointer<XML_Char>?,
  _ encoding: UnsafePointer<XML_Char>?,
  _ standalone: CInt
) {
  var name: String?
  if let encoding = unsafe encoding { name = unsafe String(cString: encoding) }
  unsafe receiver(data)?.declaration(encoding: name)
}

private func receiveEntityDeclaration(
  _ data: UnsafeMutableRawPointer?,
  _ name: UnsafePointer<XML_Char>?,
  _ isParameterEntity: CInt,
  _ value: UnsafePointer<XML_Char>?,
  _ valueLength: CInt,
  _ base: UnsafePointer<XML_Char>?,
  _ systemID: UnsafePointer<XML_Char>?,
  _ publicID: UnsafePointer<XML_Char>?,
  _ notation: UnsafePointer<XML_Char>?
) {
  unsafe receiver(data)?.entityDeclaration()
}

private func receiveStart(
  _ data: UnsafeMutableRawPointer?,
  _ name: UnsafePointer<XML_Char>?,
  _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
) {
  guard let name = unsafe name else { return }
  unsafe receiver(data)?.start(String(cString: name), pairs(attributes))
}

private func pairs(
  _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
) -> [XMLAttribute] {
  guard let attributes = unsafe attributes else { return [] }
  var pairs: [XMLAttribute] = []
  var index = 0
  while let name = unsafe attributes[index], let value = unsafe attributes[index + 1] {
    pairs.append(unsafe XMLAttribute(name: String(cString: name), value: String(cString: value)))
    index += 2
  }
  return pairs
}

private func receiveEnd(_ data: UnsafeMutableRawPointer?, _ name: UnsafePointer<XML_Char>?) {
  unsafe receiver(data)?.end()
}

private func receiveSkippedEntity(
  _ data: UnsafeMutableRawPointer?,
  _ name: UnsafePointer<XML_Char>?,
  _ isParameterEntity: CInt
) {
  guard let name = unsafe name, isParameterEntity == 0 else { return }
  unsafe receiver(data)?.skippedEntity(String(cString: name))
}

private func receiveCharacters(
  _ data: UnsafeMutableRawPointer?,
  _ text: UnsafePointer<XML_Char>?,
  _ length: CInt
) {
  let raw = unsafe UnsafeRawBufferPointer(start: text, count: Int(length))
  unsafe receiver(data)?.characters(raw)
}
