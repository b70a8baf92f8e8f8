internal import PrefetchCore
internal import PrefetchDocuments

protocol XMLVocabulary {
  mutating func shape(of root: XMLElement) -> XMLShape?
  mutating func fact(_ element: XMLElement)
  mutating func add(_ element: XMLElement, to manifest: inout XMLManifest) throws(Failure)
}

@safe struct XMLManifest {
  var collector: EntryCollector
  var furtherDocuments: [FurtherDocument] = []
  private var leftOut: (what: CountedNoun, count: Int)?
  private let bytes: UnsafeRawBufferPointer
  private var position: TextPosition

  @unsafe init(_ bytes: UnsafeRawBufferPointer, collector: EntryCollector) {
    unsafe self.bytes = bytes
    unsafe position = TextPosition(bytes)
    self.collector = collector
  }

  mutating func location(_ byte: Int) -> SourceLocation {
    if byte < position.offset { unsafe position = TextPosition(bytes) }
    position.move(to: byte)
    return position.inWhole(SourceLocation(file: "manifest", line: 1, column: 1))
  }

  mutating func reject(
    _ text: String,
    id: String? = nil,
    _ code: ErrorCode,
    _ message: String,
    at element: XMLElement
  ) {
    collector.reject(text, id: id, code, message, at: location(element.byte))
  }

  mutating func failure(_ message: String, at byte: Int) -> Failure {
    NativeManifest.invalid(message, at: location(byte))
  }

  mutating func leaveOut(_ what: CountedNoun) {
    leftOut = (what, (leftOut?.count ?? 0) + 1)
  }

  /// Returns the manifest; throws when every record was left out, since that is no empty list.
  consuming func manifest() throws(Failure) -> Manifest {
    if let leftOut, collector.isEmpty, furtherDocuments.isEmpty {
      throw Failure(
        .manifestInvalid,
        "nothing in it can be fetched; it has \(leftOut.what.text(leftOut.count))"
      )
    }
    return try collector.manifest(furtherDocuments: furtherDocuments)
  }

  static func read(
    _ bytes: RawSpan,
    as vocabulary: some XMLVocabulary,
    collector: EntryCollector
  ) throws(Failure) -> Manifest {
    let result = unsafe bytes.withUnsafeBytes { raw -> Result<Manifest, Failure> in
      let receiver = Receiver(vocabulary, unsafe XMLManifest(raw, collector: collector))
      do throws(XMLReadingFault) {
        try unsafe XMLRecords.read(RawSpan(_unsafeBytes: raw), for: receiver)
      } catch {
        return .failure(receiver.manifest.failure(error.message, at: error.byte))
      }
      return receiver.outcome
    }
    return try result.get()
  }
}

private final class Receiver<Vocabulary: XMLVocabulary>: XMLRecordReceiver {
  private var vocabulary: Vocabulary
  var manifest: XMLManifest
  private var failure: Failure?

  init(_ vocabulary: Vocabulary, _ manifest: XMLManifest) {
    self.vocabulary = vocabulary
    self.manifest = manifest
  }

  func shape(of root: XMLElement) -> XMLShape? {
    vocabulary.shape(of: root)
  }

  func fact(_ element: XMLElement) {
    vocabulary.fact(element)
  }

  func record(_ element: XMLElement) -> Bool {
    do throws(Failure) {
      try vocabulary.add(element, to: &manifest)
      return true
    } catch {
      failure = error
      return false
    }
  }

  var outcome: Result<Manifest, Failure> {
    if let failure { return .failure(failure) }
    do throws(Failure) {
      return .success(try manifest.manifest())
    } catch {
      return .failure(error)
    }
  }
}
