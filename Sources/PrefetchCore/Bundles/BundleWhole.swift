/// From the files of an item that came to what is stored of it.
extension BundleWork {
  /// What is made here for players, each file with its own name.
  mutating func namedTexts() -> [BundleText] {
    nameByContent()
    if rules.form == .ad, reading.mainPart == nil { mark() }
    return reading.texts
  }

  /// Gives each file that a playlist names a mark of its bytes in its name.
  ///
  /// So no name ever stands for other bytes: who still reads the playlists of an old whole meets
  /// nothing of a new one, and the one file with a fixed name switches from one to the other.
  private mutating func nameByContent() {
    var names: [String: String] = [:]
    for file in files.compactMap(\.self) {
      let mark = file.digest.hexadecimal.prefix(BundleName.markSize)
      names[file.name] = BundleName.marked(file.name, mark)
    }
    var used: Set<String> = []
    // Playlists stand before those that they name.
    for place in reading.texts.indices.reversed() where reading.texts[place].isPlaylist {
      let bytes = BundleName.renaming(reading.texts[place].bytes, by: names, &used)
      var hash = StableHash()
      hash.combine(bytes[...])
      let mark = String(hash.value, radix: 16)
      let name = reading.texts[place].name
      names[name] = BundleName.marked(name, mark.prefix(BundleName.markSize))
      reading.texts[place].bytes = bytes
    }
    for place in files.indices {
      guard let name = files[place]?.name, used.contains(name) else { continue }
      files[place]?.name = names[name] ?? name
    }
    for place in reading.texts.indices where used.contains(reading.texts[place].name) {
      reading.texts[place].name = names[reading.texts[place].name] ?? reading.texts[place].name
    }
  }

  /// Has what is opened first say in a comment what the whole is made of: so two wholes are never one
  /// body, neither to the store that counts these nor to players asking if theirs still holds.
  private mutating func mark() {
    var hash = StableHash()
    for file in documents.map(\.file) + files.compactMap(\.self) {
      hash.combine(file.name)
      hash.combine(file.digest.bytes[...])
    }
    for text in reading.texts { hash.combine(text.bytes[...]) }
    reading.texts[0].bytes += Array("# \(String(hash.value, radix: 16))\n".utf8)
  }

  /// All that is to be stored, each file behind those that it names, and which of it is opened first.
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
    let parts = files.compactMap(\.self)
    let told = documents.filter { !$0.isAnswer }.map(\.file)
    // What is opened first of an ad has no fixed name, and stands among its files for that.
    guard rules.form == .ad else { return (told + parts + texts.dropFirst().reversed(), texts[0]) }
    return (told + parts + texts.reversed(), reading.mainPart.flatMap { files[$0] } ?? texts[0])
  }

  /// The new whole as it is stored.
  struct Whole {
    var record: ContentRecord
    /// What is opened first, where its body came.
    var main: StagedBody?
    var besides: [StagedBody] = []
    /// What came and is not kept.
    var surplus: [StagedBody] = []
    /// Whether readers find what they have found before.
    var isSame: Bool
  }

  /// Puts all of it together; `old` is as it was stored, and `staged` are the texts.
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
    // The better variant goes on in the next run.
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
    // What only told of it is not kept, where the next run asks for it anew.
    var wanted = Set(files.map(\.digest) + [main.digest])
    // A body of the same whole that was lost comes back.
    if isSame { wanted.subtract(old.files.map(\.digest).filter(isHere)) }
    var whole = Whole(record: record, isSame: isSame)
    for body in self.staged + staged {
      if !wanted.contains(body.digest) {
        whole.surplus.append(body)
      } else if body.digest == main.digest, whole.main == nil {
        whole.main = body
      } else {
        whole.besides.append(body)
      }
    }
    return whole
  }

  /// Keeps what is here behind the beginning that is shown, unseen, for the next run.
  func keepRest(in whole: inout Whole) {
    let shown = Set(whole.record.files.map(\.key))
    var waiting = rest.filter { $0.role != .document && !shown.contains($0.key) }
    guard !waiting.isEmpty else { return }
    let wanted = Set(waiting.map(\.digest))
    // With the documents that say which edition it is of.
    waiting += documents.filter { $0.bytes != nil }.map(\.file).map(\.reserved)
    whole.record.files += waiting
    whole.besides += whole.surplus.filter { wanted.contains($0.digest) }
    whole.surplus.removeAll { wanted.contains($0.digest) }
  }

  /// Validators and addresses may be others for the same bytes.
  private static func areSame(_ old: [BundleFile], _ new: [BundleFile]) -> Bool {
    old.count == new.count
      && zip(old, new).allSatisfy {
        $0.digest == $1.digest && $0.name == $1.name && $0.key == $1.key && $0.prefix == $1.prefix
      }
  }

  /// How long it took, by which `variant: auto` chooses the next quality; nil where nothing is to be
  /// learnt from it.
  func download(at now: Duration) -> PastDownload? {
    let hasParts = rules.form == .ad ? !arrivals.files.isEmpty : !arrivals.bodies.isEmpty
    guard let quality = reading.quality ?? rules.quality, reading.hasChoice, hasParts else {
      return nil
    }
    return PastDownload(
      quality: quality,
      seconds: Double((now - terms.begunAt).milliseconds) / 1000,
      bytes: arrivals.bodies.reduce(0) { $0 + $1.size }
    )
  }

  // MARK: What waits for the rest

  /// Takes what has come out of it, for the next run to go on with; nil where that is nothing.
  mutating func reserve(in record: inout ContentRecord) -> [StagedBody]? {
    // The playlists alone tell the next run which variant was begun.
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

  /// What the next run is to go on with: the documents that say what the new whole is, what is here of
  /// it, and what of that was not looked at in this run.
  var toReserve: [BundleFile] {
    // Of those that were in doubt nothing is known but that they were another edition's.
    let wanted = Set(reading.parts.filter { !$0.isInDoubt }.map { rules.key(of: $0.url) })
    let new =
      documents.filter { !$0.isAnswer && $0.bytes != nil }.map(\.file)
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
