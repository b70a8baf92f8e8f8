internal import CYAML

/// A parser event; offsets count Unicode scalars from the start of the text.
struct YAMLEvent {
  enum Content {
    case streamStart
    case streamEnd
    case documentStart
    case documentEnd
    case alias(String)
    case scalar(text: String, isUnquoted: Bool, YAMLProperties)
    case sequenceStart(YAMLProperties)
    case mappingStart(YAMLProperties)
    case sequenceEnd
    case mappingEnd
  }

  var kind: Content
  var start: Int
  var end: Int
}

struct YAMLProperties {
  var anchor: String?
  var tag: String?
}

struct YAMLFault: Error {
  enum Offset {
    case scalar(Int)
    case byte(Int)
  }

  var problem: String
  var offset: Offset
  /// Offset, in scalars, where the unfinished construct began.
  var contextOffset: Int
}

/// Runs libyaml's event parser over bytes that must not move during its lifetime.
@safe
struct YAMLParser: ~Copyable {
  /// Heap allocation, since libyaml stores the parser's address inside the parser.
  private let parser: UnsafeMutablePointer<yaml_parser_t>

  init?(pinned bytes: UnsafeBufferPointer<UInt8>) {
    unsafe parser = .allocate(capacity: 1)
    guard unsafe yaml_parser_initialize(parser) == 1 else {
      unsafe parser.deallocate()
      return nil
    }
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    unsafe yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
  }

  mutating func next() throws(YAMLFault) -> YAMLEvent {
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw fault() }
    defer { unsafe yaml_event_delete(&event) }
    return unsafe YAMLEvent(
      kind: kind(of: event),
      start: event.start_mark.index,
      end: event.end_mark.index
    )
  }

  private func kind(of event: yaml_event_t) -> YAMLEvent.Content {
    switch unsafe event.type {
    case YAML_STREAM_START_EVENT: return .streamStart
    case YAML_DOCUMENT_START_EVENT: return .documentStart
    case YAML_DOCUMENT_END_EVENT: return .documentEnd
    case YAML_ALIAS_EVENT: return unsafe .alias(text(event.data.alias.anchor) ?? "")
    case YAML_SCALAR_EVENT:
      let scalar = unsafe event.data.scalar
      let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      return unsafe .scalar(
        text: String(decoding: bytes, as: UTF8.self),
        isUnquoted: scalar.style == YAML_PLAIN_SCALAR_STYLE,
        YAMLProperties(anchor: text(scalar.anchor), tag: text(scalar.tag))
      )
    case YAML_SEQUENCE_START_EVENT:
      let start = unsafe event.data.sequence_start
      return unsafe .sequenceStart(
        YAMLProperties(anchor: text(start.anchor), tag: text(start.tag))
      )
    case YAML_MAPPING_START_EVENT:
      let start = unsafe event.data.mapping_start
      return unsafe .mappingStart(
        YAMLProperties(anchor: text(start.anchor), tag: text(start.tag))
      )
    case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
    case YAML_MAPPING_END_EVENT: return .mappingEnd
    default: return .streamEnd
    }
  }

  private func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    guard let pointer = unsafe pointer else { return nil }
    return unsafe String(cString: pointer)
  }

  private func fault() -> YAMLFault {
    let state = unsafe parser.pointee
    var problem = "out of memory"
    if let text = unsafe state.problem { problem = unsafe String(cString: text) }
    return unsafe YAMLFault(
      problem: problem,
      offset: state.error == YAML_READER_ERROR
        ? .byte(state.problem_offset) : .scalar(state.problem_mark.index),
      contextOffset: state.context_mark.index
    )
  }
}
