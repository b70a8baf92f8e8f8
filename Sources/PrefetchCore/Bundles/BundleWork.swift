/// An item of several files while these are gathered.
///
/// One object, as ``ActiveItem``: every part that is under way looks at it.
final class BundleWork {
  /// A document that says what else there is; the first one is the item's own.
  struct Document {
    var url: WebURL
    var base: WebURL
    /// Of an ad server, which says something else each time.
    var isAnswer: Bool
    /// Nil as long as it is asked for.
    var bytes: ManifestSource.Bytes?
    /// As it is or will be stored.
    var file: BundleFile
    /// The editions that files which are here are of.
    var earlier: [ContentDigest] = []
  }

  /// Who a part of the item is asked for as.
  enum Role: Hashable {
    case document(Int)
    case part(Int)
  }

  /// The item's own number.
  let item: Int
  var rules: BundleRules
  /// When its own document was here.
  let begunAt: Duration
  /// What is here of it.
  let kept: KeptFiles
  var documents: [Document]
  /// Who names its files: a server out there, or anything nearer.
  var namer: Provenance
  var reading = BundleReading()
  /// In the order of the reading's parts.
  var files: [BundleFile?] = []
  /// Those among them that came, by what they are known by.
  var brought: [String: BundleFile] = [:]
  /// Why a server of its chain was passed over.
  var passedOver: Failure?
  /// Whether less of it is wanted than its documents were read for.
  var isToBeReadAgain = false
  /// What came and waits for the whole.
  var bodies: [StagedBody] = []
  /// Requests for parts that have not ended.
  var open = 0
  /// Bytes of all that is here.
  var size: Int64 = 0
  /// Whether anything came that was not stored.
  var hasNews = false
  /// Why it will not be whole in this run.
  var ending: Ending?
  /// What came for the item's own document.
  var response: TransferResponse
  var root: StagedBody?

  /// Gives each file that a playlist names a mark of its bytes in its name.
  ///
  /// So no name ever stands for other bytes: who still reads the playlists of an old whole meets
  /// nothing of a new one, and the one file with a fixed name switches from one to the other.
  func nameByContent() {
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
  func mark() {
    var hash = StableHash()
    for file in documents.map(\.file) + files.compactMap(\.self) {
      hash.combine(file.name)
      hash.combine(file.digest.bytes[...])
    }
    for text in reading.texts { hash.combine(text.bytes[...]) }
    reading.texts[0].bytes += Array("# \(String(hash.value, radix: 16))\n".utf8)
  }

  /// All that is to be stored, each file behind those that it names, and which of it is opened first.
  func whole(_ staged: [StagedBody]) -> (files: [BundleFile], main: BundleFile) {
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

  func take(_ kept: BundleFile, as place: Int) {
    var file = kept
    file.name = reading.parts[place].name
    file.isReserved = false
    files[place] = file
    size += file.size
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
    .map { file in
      var file = file
      file.isReserved = true
      return file
    }
  }

  enum Ending {
    case failed(Failure)
    case deferred(Deferral?)
  }

  init(
    item: Int,
    rules: BundleRules,
    at begunAt: Duration,
    stored files: [BundleFile],
    root: Document,
    namedBy namer: Provenance,
    response: TransferResponse
  ) {
    self.item = item
    self.rules = rules
    self.begunAt = begunAt
    kept = KeptFiles(files)
    documents = [root]
    self.namer = namer
    self.response = response
  }
}

/// The place of a request in the item of several files that it belongs to.
struct BundlePlace {
  let bundle: BundleWork
  let role: BundleWork.Role
  /// What is here of it, and asked about.
  let kept: BundleFile?
}
