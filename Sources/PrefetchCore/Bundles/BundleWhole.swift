extension BundleWork {
  mutating func namedTexts() -> [BundleText] {
    nameByContent()
    if rules.form == .ad, reading.mainPiece == nil { mark() }
    return reading.texts
  }

  /// Marks named files by content, so that no playlist of an old whole gets bytes of a new one.
  private mutating func nameByContent() {
    var names: [String: String] = [:]
    for file in files.compactMap(\.self) {
      let mark = file.digest.hexadecimal.prefix(BundleName.markSize)
      names[file.name] = BundleName.marked(file.name, mark)
    }
    var used: Set<String> = []
    // A playlist stands before those that it names.
    for index in reading.texts.indices.reversed() where reading.texts[index].isPlaylist {
      let bytes = BundleName.renaming(reading.texts[index].bytes, by: names, &used)
      var hash = StableHash()
      hash.combine(bytes[...])
      let mark = String(hash.value, radix: 16)
      let name = reading.texts[index].name
      names[name] = BundleName.marked(name, mark.prefix(BundleName.markSize))
      reading.texts[index].bytes = bytes
    }
    for index in files.indices {
      guard let name = files[index]?.name, used.contains(name) else { continue }
      files[index]?.name = names[name] ?? name
    }
    for index in reading.texts.indices where used.contains(reading.texts[index].name) {
      reading.texts[index].name = names[reading.texts[index].name] ?? reading.texts[index].name
    }
  }

  /// Appends a hash of the whole to the main text, so that two wholes never have the same body.
  private mutating func mark() {
    var hash = StableHash()
    for file in documents.map(\.file) + files.compactMap(\.self) {
      hash.combine(file.name)
      hash.combine(file.digest.bytes[...])
    }
    for text in reading.texts { hash.combine(text.bytes[...]) }
    reading.texts[0].bytes += Array("# \(String(hash.value, radix: 16))\n".utf8)
  }

  /// Returns all files to store, each after those that it names, and the main file.
  private func whole(_ staged: [StagedBody]) -> (files: [BundleFile], main: BundleFile) {
    let texts = zip(reading.texts, staged).map { text, body in
      var file = BundleFile(
        role: .playlist,
        key: "",
        name: text.name,
        digest: body.digest,
        size: body.size
      )
      file.mime = text.mime
      return file
    }
    let present = files.compactMap(\.self)
    let documentFiles = documents.filter { !$0.isAdResponse }.map(\.file)
    // The main file of an ad has no fixed name, so it is among the files too.
    guard rules.form == .ad else {
      return (documentFiles + present + texts.dropFirst().reversed(), texts[0])
    }
    return (
      documentFiles + present + texts.reversed(),
      reading.mainPiece.flatMap { files[$0] } ?? texts[0]
    )
  }

  struct Whole {
    var record: ContentRecord
    var main: StagedBody?
    var otherBodies: [StagedBody] = []
    var surplus: [StagedBody] = []
    var isSame: Bool
  }

  func whole(
    of old: ContentRecord,
    wasUsable: Bool,
    _ staged: [StagedBody],
    at now: Instant,
    isHere: (ContentDigest) -> Bool
  ) -> Whole {
    let (files, main) = whole(staged)
    var record = old
    record.files = files
    // The next run continues with the better variant.
    if rules.automatic?.hasFailed == true { record.files += old.files.filter(\.isReserved) }
    record.headers = Revalidation.storable(response.headers)
    record.validators = rules.form == .ad ? Validators() : documents[0].file.validators
    record.mime = main.mime
    record.status = 200
    record.digest = main.digest
    record.size = main.size
    record.otherDigests = [:]
    record.state = reading.isPartial ? .partial : .cached
    let isSame =
      wasUsable && old.digest == main.digest
      && Self.areSame(old.files.filter(\.isShown), files.filter(\.isShown))
    if !isSame { record.fetchedAt = now }
    // Documents that the next run requests again are not kept.
    var wanted = Set(files.map(\.digest) + [main.digest])
    // A lost body of the same whole is stored again.
    if isSame { wanted.subtract(old.files.map(\.digest).filter(isHere)) }
    var whole = Whole(record: record, isSame: isSame)
    for body in self.staged + staged {
      if !wanted.contains(body.digest) {
        whole.surplus.append(body)
      } else if body.digest == main.digest, whole.main == nil {
        whole.main = body
      } else {
        whole.otherBodies.append(body)
      }
    }
    return whole
  }

  /// Keeps the files after the shown beginning, hidden, for the next run.
  func keepRest(in whole: inout Whole) {
    let shown = Set(whole.record.files.map(\.key))
    var waiting = rest.filter { $0.role != .document && !shown.contains($0.key) }
    guard !waiting.isEmpty else { return }
    let wanted = Set(waiting.map(\.digest))
    // The documents say which edition the files are of.
    waiting += documents.filter { $0.bytes != nil }.map(\.file).map(\.reserved)
    whole.record.files += waiting
    whole.otherBodies += whole.surplus.filter { wanted.contains($0.digest) }
    whole.surplus.removeAll { wanted.contains($0.digest) }
  }

  /// Ignores validators and addresses, which may differ for the same bytes.
  private static func areSame(_ old: [BundleFile], _ new: [BundleFile]) -> Bool {
    old.count == new.count
      && zip(old, new).allSatisfy {
        $0.digest == $1.digest && $0.name == $1.name && $0.key == $1.key && $0.prefix == $1.prefix
      }
  }

  /// Returns the download time, by which the next quality is chosen; nil if it says nothing.
  func download(at now: Duration) -> PastDownload? {
    let hasPieces = rules.form == .ad ? !arrivals.files.isEmpty : !arrivals.bodies.isEmpty
    guard let quality = reading.quality ?? rules.quality, reading.hasChoice, hasPieces else {
      return nil
    }
    return PastDownload(
      quality: quality,
      seconds: Double((now - terms.begunAt).milliseconds) / 1000,
      bytes: arrivals.bodies.reduce(0) { $0 + $1.size }
    )
  }

  // MARK: What waits for the rest

  /// Reserves the received files for the next run and returns their bodies; nil if there are none.
  mutating func reserve(in record: inout ContentRecord) -> [StagedBody]? {
    // Playlists tell the next run which variant was begun; answers of ad servers tell nothing.
    guard rules.form != .ad, !arrivals.files.isEmpty || arrivals.bodies.contains(where: isDocument)
    else { return nil }
    let waiting = rules.shown == nil ? toReserve : rest
    record.files = record.files.filter { !$0.isReserved } + waiting
    let kept = Set(record.files.map(\.digest))
    return staged.filter { kept.contains($0.digest) }
  }

  private func isDocument(_ body: StagedBody) -> Bool {
    documents.contains { $0.file.digest == body.digest }
  }

  mutating func drop(_ bodies: [StagedBody]) {
    let digests = Set(bodies.map(\.digest))
    arrivals.bodies.removeAll { digests.contains($0.digest) }
    if let body = arrivals.root, digests.contains(body.digest) { arrivals.root = nil }
  }

  /// Files for the next run: those of the new whole, and reserved ones not looked at in this run.
  var toReserve: [BundleFile] {
    // Stored files of parts in doubt are of another edition.
    let wanted = Set(reading.pieces.filter { !$0.isInDoubt }.map { rules.key(of: $0.url) })
    let new =
      documents.filter { !$0.isAdResponse && $0.bytes != nil }.map(\.file)
      + files.compactMap(\.self)
    let keys = Set(new.map(\.key))
    let left = kept.reserved.values.filter { file in
      wanted.contains(file.key) && !keys.contains(file.key) && !kept.isOfUnknownEdition(file)
    }
    return (new + left.sorted { $0.key < $1.key }).filter { file in
      !file.key.isEmpty && kept.stored[file.key]?.digest != file.digest
    }
    .map(\.reserved)
  }
}
