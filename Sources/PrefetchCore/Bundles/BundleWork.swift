/// State of an item of several files, which become visible at once when all are fetched.
struct BundleWork {
  struct Document {
    var url: WebURL
    var base: WebURL
    /// Whether the document is an ad server's answer, which differs each time.
    var isAdResponse: Bool
    var bytes: ManifestSource.Bytes?
    var file: BundleFile
    var earlier: [ContentDigest] = []
  }

  enum Role: Hashable {
    case document(Int)
    case piece(Int)
  }

  enum Outcome {
    case failed(Failure)
    case deferred(Deferral?)

    /// Whether the cause is a size limit, which the next run would meet again.
    var isOfSize: Bool {
      if case .failed(let failure) = self {
        failure.code == .tooLarge || failure.code == .cacheFull
      } else {
        false
      }
    }

    /// Whether the beginning may be shown: nothing was tampered with or too large.
    var leavesBeginning: Bool {
      if case .failed(let failure) = self, failure.code.category == .trust { return false }
      return !isOfSize
    }
  }

  struct Terms {
    var begunAt: Duration
    var sizeLimit: Int64?
    var requestsAll: Bool
    /// Whether no piece is requested, as in a dry run.
    var isProbe: Bool
  }

  struct Wanted {
    var entry: ManifestEntry
    var role: Role
    var kept: BundleFile?
    var beginning: PartialBody?
  }

  struct Response {
    var response: TransferResponse
    var hop: WebURL
    var provenance: Provenance
  }

  struct Arrivals {
    var root: StagedBody?
    var bodies: [StagedBody] = []
    var files: [String: BundleFile] = [:]
    /// Whether any received body was not stored before.
    var isNews = false
  }

  let terms: Terms
  var rules: BundleRules
  let kept: KeptFiles
  private(set) var documents: [Document]
  private(set) var namer: Provenance
  var reading = BundleReading()
  /// Files in the order of ``BundleReading/pieces``; nil for a missing one.
  var files: [BundleFile?] = []
  var arrivals = Arrivals()
  private(set) var passedOver: Failure?
  /// Whether the documents must be read again, since an optional file is missing.
  private(set) var isToBeReadAgain = false
  var open = 0
  private(set) var size: Int64 = 0
  var outcome: Outcome?
  /// Files reserved for the next run while only the beginning is shown.
  private(set) var rest: [BundleFile] = []
  let response: TransferResponse

  init?(
    at url: WebURL,
    _ arrival: Response,
    body: StagedBody?,
    stored: [BundleFile],
    rules: BundleRules,
    terms: Terms,
    isHere: (ContentDigest) -> Bool
  ) {
    let key = rules.key(of: url)
    var file: BundleFile
    let bytes: ManifestSource.Bytes
    if let body {
      file = BundleFile(role: .document, key: key, name: "", digest: body.digest, size: body.size)
      bytes = .staged(body)
    } else {
      let known = stored.first { $0.role == .document && $0.key == key && !$0.isReserved }
      guard let known, isHere(known.digest) else { return nil }
      file = known
      bytes = .stored(known.digest)
    }
    file.validators = Validators(arrival.response.headers)
    file.finalURL = arrival.hop == url ? nil : arrival.hop.string
    kept = KeptFiles(stored)
    var document = Document(
      url: url,
      base: arrival.hop,
      isAdResponse: rules.form == .ad,
      bytes: bytes,
      file: file
    )
    document.earlier = kept.documents(known: key).map(\.digest)
    documents = [document]
    self.terms = terms
    self.rules = rules
    namer = arrival.provenance
    response = arrival.response
    arrivals.root = body
    arrivals.isNews = body.map { kept.stored[key]?.digest != $0.digest } ?? false
  }

  var staged: [StagedBody] { arrivals.bodies + [arrivals.root].compactMap(\.self) }

  func isAdResponse(_ role: Role) -> Bool {
    if case .document(let number) = role { documents[number].isAdResponse } else { false }
  }

  func listedPiece(_ role: Role) -> BundlePiece? {
    if case .piece(let number) = role { reading.pieces[number] } else { nil }
  }

  // MARK: What it consists of

  var documentsToRead: [BundleDocument] {
    documents.compactMap { document in
      document.bytes.map { bytes in
        BundleDocument(
          url: document.url,
          base: document.base,
          bytes: bytes,
          earlier: document.earlier.filter { $0 != document.file.digest }
        )
      }
    }
  }

  mutating func read(
    _ result: Result<BundleReading, Failure>,
    isHere: (ContentDigest) -> Bool
  ) -> [Wanted] {
    if let root = documents.first, let locked = rules.locked,
      let objection = locked.objection(to: root.file.digest, of: root.url.string)
    {
      outcome = .failed(objection)
      return []
    }
    switch result {
    case _ where rules.shown != nil:
      restoreBeginning(try? result.get())
      return []
    case .failure(let failure):
      outcome = .failed(failure.code == .empty ? passedOver ?? failure : failure)
      return []
    case .success(let new) where new.documents.isEmpty:
      reading = new
      files = [BundleFile?](repeating: nil, count: new.pieces.count)
      size = 0
      outcome = objection(to: new).map { .failed($0) }
      return outcome != nil ? [] : new.pieces.indices.compactMap { want(piece: $0, isHere: isHere) }
    case .success(let new):
      reading.choice = new.choice
      return new.documents.compactMap { want($0, isHere: isHere) }
    }
  }

  private func objection(to reading: BundleReading) -> Failure? {
    guard let limit = terms.sizeLimit, let expected = reading.expectedBytes, expected > limit
    else { return nil }
    let sizes = SizeText.format(together: [expected, limit])
    return Failure(
      .tooLarge,
      "its length and bit rate come to \(sizes[0]), and `max_file_size` is \(SizeText.format(limit: limit))"
    )
  }

  private mutating func want(
    _ wanted: BundleRequest,
    isHere: (ContentDigest) -> Bool
  ) -> Wanted? {
    guard documents.count < Self.mostDocuments else {
      outcome = .failed(Failure(.manifestInvalid, "it names too many further documents"))
      return nil
    }
    let key = rules.key(of: wanted.url)
    let known = kept.documents(known: key)
    if let objection = rules.locked?.objection(toUnnamed: key) {
      outcome = .failed(objection)
      return nil
    }
    let stored = known.first { isHere($0.digest) && isAsLocked($0.digest, key) }
    documents.append(
      Document(
        url: wanted.url,
        base: wanted.url,
        isAdResponse: wanted.type == BundleForm.ad.rawValue,
        bytes: nil,
        file: stored
          ?? BundleFile(role: .document, key: key, name: "", digest: .none, size: 0),
        earlier: known.map(\.digest)
      )
    )
    var entry = ManifestEntry(url: wanted.url)
    entry.type = wanted.type
    entry.alternates = wanted.alternates
    return Wanted(entry: entry, role: .document(documents.count - 1), kept: stored)
  }

  private static let mostDocuments = 1_000

  private mutating func want(piece index: Int, isHere: (ContentDigest) -> Bool) -> Wanted? {
    let listed = reading.pieces[index]
    let key = rules.key(of: listed.url)
    if let file = arrivals.files[key], file.role == listed.role {
      addKept(file, as: index)
      return nil
    }
    if let objection = rules.locked?.objection(toUnnamed: key) {
      outcome = .failed(objection)
      return nil
    }
    let known = kept.files(for: listed, known: key).first {
      isHere($0.digest) && isAsLocked($0.digest, key)
    }
    // An ad has no playlist.
    let isKnown = rules.form == .ad || known.map(kept.isOfUnknownEdition) == false
    if let known, !terms.requestsAll, !listed.isInDoubt, isKnown {
      addKept(known, as: index)
      return nil
    }
    // In a dry run it is enough to know that a file would come.
    guard !terms.isProbe else {
      arrivals.isNews = true
      return nil
    }
    var entry = ManifestEntry(url: listed.url)
    entry.type = listed.type
    entry.alternates = listed.alternates
    if let prefix = listed.prefix {
      entry.headers = [HeaderField("Range", "bytes=0-\(prefix - 1)")]
    }
    let beginning = kept.beginnings(of: listed, known: key).first { isHere($0.digest) }
    return Wanted(
      entry: entry,
      role: .piece(index),
      kept: known,
      beginning: beginning?.beginning(of: listed.url)
    )
  }

  private func isAsLocked(_ digest: ContentDigest, _ key: String) -> Bool {
    rules.locked?.objection(to: digest, of: key) == nil
  }

  /// Takes the content of the documents up to the end of the files that are here.
  private mutating func restoreBeginning(_ beginning: BundleReading?) {
    reading.texts = []
    guard let beginning else { return }
    let known = Dictionary(files.compactMap { $0.map { ($0.key, $0) } }) { first, _ in first }
    reading = beginning
    files = beginning.pieces.map { listed in
      var file = known[rules.key(of: listed.url)]
      file?.name = listed.name
      return file
    }
  }

  private mutating func addKept(_ kept: BundleFile, as index: Int) {
    var file = kept
    file.name = reading.pieces[index].name
    file.isReserved = false
    files[index] = file
    size += file.size
  }

  // MARK: Answers

  /// Returns the objection to the body of a part; `isRest` if a partial body was completed.
  func objection(
    to body: StagedBody,
    _ response: TransferResponse,
    as role: Role,
    isRest: Bool
  ) -> Failure? {
    let key: String
    switch role {
    case .document(let number): key = documents[number].file.key
    case .piece(let number): key = rules.key(of: reading.pieces[number].url)
    }
    if let objection = rules.locked?.objection(to: body.digest, of: key) { return objection }
    guard let listed = listedPiece(role) else { return nil }
    if response.status == 206, !isRest {
      let range = response.headers.combined("Content-Range").flatMap { ContentRange($0) }
      guard listed.prefix != nil, range?.bounds?.lowerBound == 0 else {
        return Failure(.badResponse, "the server sent another part than requested")
      }
    }
    return listed.objection(to: body, type: response.headers[.contentType])
  }

  mutating func confirm(_ piece: Bundles.Piece, by arrival: Response) {
    switch piece.role {
    case .document(let number):
      documents[number].bytes = .stored(documents[number].file.digest)
      recordProvenance(arrival, as: number)
    case .piece(let number):
      if let kept = piece.kept { addKept(kept, as: number) }
    }
  }

  mutating func recordNoAd(for role: Role) {
    if case .document(let number) = role { documents[number].bytes = .nothing }
  }

  /// Takes the body of a piece; returns an objection if all files together are too large.
  mutating func accept(
    _ body: StagedBody,
    for piece: Bundles.Piece,
    by arrival: Response
  ) -> Failure? {
    var staged = body
    staged.prefix = []
    arrivals.bodies.append(staged)
    size += body.size
    switch piece.role {
    case .document(let number):
      let isKnown = kept.stored[documents[number].file.key]?.digest == body.digest
      if !isKnown { arrivals.isNews = true }
      documents[number].file.digest = body.digest
      documents[number].file.size = body.size
      documents[number].file.validators = Validators(arrival.response.headers)
      documents[number].bytes = .staged(staged)
      recordProvenance(arrival, as: number)
    case .piece(let number):
      let listed = reading.pieces[number]
      if piece.kept?.digest != body.digest { arrivals.isNews = true }
      var file = BundleFile(
        role: listed.role,
        key: rules.key(of: listed.url),
        name: listed.name,
        digest: body.digest,
        size: body.size
      )
      if arrival.response.status == 206 { file.prefix = listed.prefix }
      file.mime = arrival.response.headers[.contentType]
      file.validators = Validators(arrival.response.headers)
      file.finalURL = arrival.hop == listed.url ? nil : arrival.hop.string
      files[number] = file
      arrivals.files[file.key] = file
    }
    guard let limit = terms.sizeLimit, size > limit else { return nil }
    return Failure(
      .tooLarge,
      "its files are larger than the \(SizeText.format(limit: limit)) of `max_file_size`"
    )
  }

  /// Records base and provenance of a document; one public server makes all file URLs public.
  private mutating func recordProvenance(_ arrival: Response, as number: Int) {
    documents[number].base = arrival.hop
    if arrival.provenance == .publicServer { namer = .publicServer }
    documents[number].file.finalURL =
      arrival.hop == documents[number].url ? nil : arrival.hop.string
  }

  // MARK: Ends of pieces

  enum Loss {
    case none
    /// The item is shown without the piece; the text says so.
    case extra(String)
    case whole
  }

  mutating func end(_ role: Role, at url: WebURL, _ ended: Outcome, mayContinue: Bool) -> Loss {
    guard outcome == nil else { return .none }
    guard case .failed(let failure) = ended else {
      outcome = ended
      return .whole
    }
    let named = named(failure, url, as: role)
    // After tampering nothing is shown.
    if mayContinue, failure.code.category == .content || failure.code.category == .connectivity {
      if isAdResponse(role) {
        // Another server of the ad chain may have an ad.
        recordNoAd(for: role)
        passedOver = passedOver ?? named
        return .none
      }
      if listedPiece(role)?.role == .extra {
        rules.leftOut.insert(rules.key(of: url))
        isToBeReadAgain = true
        return .extra("; without `\(url.redacted)`: \(failure.message)")
      }
    }
    outcome = .failed(named)
    return .whole
  }

  private func named(_ failure: Failure, _ url: WebURL, as role: Role) -> Failure {
    var vast: Int?
    if rules.form == .ad {
      let isLate = failure.code == .timeout || failure.code == .stalled
      if case .document = role { vast = 301 } else { vast = isLate ? 402 : 401 }
    }
    return Failure(
      failure.code,
      "a part of it, `\(url.redacted)`: \(failure.message)",
      isTransient: failure.isTransient,
      vast: vast
    )
  }

  // MARK: What comes next

  enum Next {
    case waits
    case isToBeRead
    case isWhole
    case isBegun
    case ends(Outcome)
  }

  /// Returns the next action; `mayShow` if the beginning would replace no shown whole.
  mutating func next(_ storeFailure: Failure?, mayShow: Bool = false) -> Next {
    guard open == 0 else { return .waits }
    if outcome == nil { outcome = storeFailure.map { .failed($0) } }
    if let outcome {
      if rules.shown != nil, storeFailure == nil {
        return reading.texts.isEmpty ? .ends(outcome) : .isBegun
      }
      let here = Set(files.compactMap { $0?.key })
      guard mayShow, storeFailure == nil, rules.keepsPartial, rules.form == .stream,
        outcome.leavesBeginning, !here.isEmpty
      else { return .ends(outcome) }
      // Must come before the shorter reading, since only the present one marks the parts in doubt.
      rest = toReserve
      rules.shown = here
      return .isToBeRead
    }
    guard reading.texts.isEmpty || isToBeReadAgain else { return .isWhole }
    isToBeReadAgain = false
    return .isToBeRead
  }
}
