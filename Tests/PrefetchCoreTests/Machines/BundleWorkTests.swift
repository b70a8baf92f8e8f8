import PrefetchCore
import Testing

@testable import PrefetchCore

/// Multi-file items from their main document to completion, without a run.
@Suite("Items of several files")
struct BundleWorkTests {
  private static func url(_ name: String) -> WebURL {
    guard let url = try? WebURL("https://a.example/\(name)") else { fatalError("no URL: \(name)") }
    return url
  }

  private static func digest(_ number: UInt8) -> ContentDigest {
    ContentDigest(bytes: [UInt8](repeating: number, count: 32)) ?? .none
  }

  private static func body(_ number: UInt8, size: Int64 = 16) -> StagedBody {
    StagedBody(id: Int(number), digest: digest(number), size: size)
  }

  private static func response(_ name: String, status: Int = 200) -> BundleWork.Response {
    let response = TransferResponse(status: status, headers: HeaderBlock(), body: nil)
    return BundleWork.Response(response: response, hop: url(name), provenance: .local)
  }

  private static func work(
    stored: [BundleFile] = [],
    form: BundleForm = .stream,
    sizeLimit: Int64? = nil,
    requestsAll: Bool = false,
    isProbe: Bool = false,
    body: StagedBody? = body(1),
    isHere: (ContentDigest) -> Bool = all
  ) -> BundleWork? {
    var rules = BundleRules()
    rules.form = form
    return BundleWork(
      at: url("film.m3u8"),
      response("film.m3u8"),
      body: body,
      stored: stored,
      rules: rules,
      terms: BundleWork.Terms(
        begunAt: .zero,
        sizeLimit: sizeLimit,
        requestsAll: requestsAll,
        isProbe: isProbe
      ),
      isHere: isHere
    )
  }

  private static func listed(_ name: String, _ role: BundleFile.Role = .media) -> BundlePiece {
    BundlePiece(url: url(name), role: role, name: name)
  }

  private static func reading(_ pieces: [BundlePiece]) -> Result<BundleReading, Failure> {
    var reading = BundleReading()
    reading.pieces = pieces
    let bytes = Array(pieces.map(\.name).joined(separator: "\n").utf8)
    reading.texts = [BundleText(name: "film.m3u8", bytes: bytes, mime: BundleText.playlistType)]
    return .success(reading)
  }

  private static func file(
    _ name: String,
    _ number: UInt8,
    _ role: BundleFile.Role = .media
  ) -> BundleFile {
    let key = url(name).string
    return BundleFile(role: role, key: key, name: name, digest: digest(number), size: 16)
  }

  private static let all: @Sendable (ContentDigest) -> Bool = { _ in true }
  private static let failure = Failure(.gone, "the server answered 404")

  // MARK: What is asked for

  @Test(
    "A piece is requested when it is not stored, may have changed, or on `--refetch`",
    arguments: [
      (isStored: false, isInDoubt: false, requestsAll: false, isProbe: false, isWanted: true),
      (true, false, false, false, false), (true, true, false, false, true),
      (true, false, true, false, true), (false, false, false, true, false),
    ]
  )
  func wanted(
    _ row: (isStored: Bool, isInDoubt: Bool, requestsAll: Bool, isProbe: Bool, isWanted: Bool)
  ) {
    let stored = row.isStored ? [Self.file("a.ts", 5)] : []
    var work = Self.work(stored: stored, requestsAll: row.requestsAll, isProbe: row.isProbe)
    var listed = Self.listed("a.ts")
    listed.isInDoubt = row.isInDoubt
    let wanted = work?.read(Self.reading([listed]), isHere: Self.all)
    #expect(wanted?.map(\.entry.url) == (row.isWanted ? [listed.url] : []))
    #expect(wanted?.first?.kept?.digest == (row.isWanted && row.isStored ? Self.digest(5) : nil))
    #expect(work?.files == (row.isStored && !row.isWanted ? [Self.file("a.ts", 5)] : [nil]))
  }

  @Test("A lost piece is requested, and the item's own document with it")
  func lost() {
    var work = Self.work(stored: [Self.file("a.ts", 5)])
    let isHere = { (digest: ContentDigest) in digest != Self.digest(5) }
    let wanted = work?.read(Self.reading([Self.listed("a.ts")]), isHere: isHere)
    #expect(wanted?.count == 1 && wanted?.first?.kept == nil)
    let document = Self.file("film.m3u8", 1, .document)
    #expect(Self.work(stored: [document], body: nil) != nil)
    #expect(Self.work(stored: [document], body: nil, isHere: { _ in false }) == nil)
    #expect(Self.work(body: nil) == nil)
  }

  @Test("Further documents come before pieces, and their number is limited to a thousand")
  func documents() {
    var reading = BundleReading()
    reading.documents = (1...1_000).map {
      BundleRequest(url: Self.url("\($0).m3u8"), alternates: [], type: "stream")
    }
    var work = Self.work()
    let wanted = work?.read(.success(reading), isHere: Self.all)
    #expect(wanted?.count == 999 && wanted?.first?.role == .document(1))
    guard case .failed(let failure) = work?.outcome else {
      Issue.record("it goes on")
      return
    }
    #expect(failure.code == .manifestInvalid)
  }

  // MARK: What comes next

  private enum Stage: Equatable {
    case waits
    case isToBeRead
    case isWhole
    case isBegun
    case fails(ErrorCode)
    case waitsForTime
  }

  private static func stage(
    of given: BundleWork,
    _ storeFailure: Failure? = nil,
    mayShow: Bool = false
  ) -> Stage {
    var work = given
    return switch work.next(storeFailure, mayShow: mayShow) {
    case .waits: .waits
    case .isToBeRead: .isToBeRead
    case .isWhole: .isWhole
    case .isBegun: .isBegun
    case .ends(.failed(let failure)): .fails(failure.code)
    case .ends(.deferred): .waitsForTime
    }
  }

  @Test("A failed piece ends its item, unless it is optional")
  func losses() throws {
    let piece = Self.url("a.ts")
    let rows: [(role: BundleFile.Role, code: ErrorCode, mayContinue: Bool, stage: Stage)] = [
      (.media, .gone, true, .fails(.gone)), (.key, .gone, true, .fails(.gone)),
      (.extra, .gone, true, .isToBeRead), (.extra, .timeout, true, .isToBeRead),
      (.extra, .pinMismatch, true, .fails(.pinMismatch)),
      (.extra, .gone, false, .fails(.gone)),
    ]
    for row in rows {
      var work = try #require(Self.work())
      _ = work.read(Self.reading([Self.listed("a.ts", row.role)]), isHere: Self.all)
      let ended = BundleWork.Outcome.failed(Failure(row.code, "no"))
      _ = work.end(.piece(0), at: piece, ended, mayContinue: row.mayContinue)
      #expect(Self.stage(of: work) == row.stage, "\(row)")
      // Later outcomes change nothing.
      let second = BundleWork.Outcome.deferred(nil)
      if case .fails = row.stage { _ = work.end(.piece(0), at: piece, second, mayContinue: true) }
      #expect(row.stage == .isToBeRead || Self.stage(of: work) == row.stage)
    }
  }

  @Test("A chain of ad servers continues when one server has no ad")
  func chain() throws {
    var work = try #require(Self.work(form: .ad))
    var reading = BundleReading()
    reading.documents = [
      BundleRequest(url: Self.url("next"), alternates: [], type: BundleForm.ad.rawValue)
    ]
    _ = work.read(.success(reading), isHere: Self.all)
    let loss = work.end(
      .document(1),
      at: Self.url("next"),
      .failed(Self.failure),
      mayContinue: true
    )
    guard case .none = loss else {
      Issue.record("it ends")
      return
    }
    #expect(Self.stage(of: work) == .isToBeRead)
    // No ad was found in the end, and the reason is reported.
    _ = work.read(.failure(Failure(.empty, "it names no ad")), isHere: Self.all)
    #expect(Self.stage(of: work) == .fails(.gone))
  }

  @Test("A work waits while a piece is open, and fails after a failure of the store")
  func stages() throws {
    var work = try #require(Self.work())
    #expect(Self.stage(of: work) == .isToBeRead)
    _ = work.read(Self.reading([Self.listed("a.ts")]), isHere: Self.all)
    work.open = 1
    #expect(Self.stage(of: work) == .waits)
    work.open = 0
    #expect(Self.stage(of: work) == .isWhole)
    #expect(Self.stage(of: work, Failure(.diskFull, "no")) == .fails(.diskFull))
  }

  @Test("The beginning of an incomplete item is shown only by its rule")
  func beginning() throws {
    for keepsPartial in [false, true] {
      var (work, _) = try Self.gathered()
      work.rules.keepsPartial = keepsPartial
      work.outcome = .failed(Self.failure)
      #expect(Self.stage(of: work) == .fails(.gone))
      #expect(Self.stage(of: work, mayShow: true) == (keepsPartial ? .isToBeRead : .fails(.gone)))
      guard keepsPartial else { continue }
      _ = work.next(nil, mayShow: true)
      #expect(work.rules.shown == [Self.url("a.ts").string])
      var nothing = work
      _ = nothing.read(.failure(Failure(.empty, "no")), isHere: Self.all)
      #expect(Self.stage(of: nothing, mayShow: true) == .fails(.gone))
      _ = work.read(Self.reading([Self.listed("a.ts")]), isHere: Self.all)
      #expect(Self.stage(of: work, mayShow: true) == .isBegun)
      #expect(work.files.map { $0?.digest } == [Self.digest(7)])
    }
  }

  @Test("Pieces after the shown beginning are reserved, and those of another edition are not")
  func restOfBeginning() throws {
    // A piece of another edition is left over from the last attempt.
    var old = Self.file("c.ts", 5)
    old.isReserved = true
    var work = try #require(
      Self.work(stored: [old, Self.file("film.m3u8", 9, .document).reserved])
    )
    work.rules.keepsPartial = true
    var pieces = ["a.ts", "b.ts", "c.ts", "d.ts"].map { Self.listed($0) }
    pieces[2].isInDoubt = true
    _ = work.read(Self.reading(pieces), isHere: Self.all)
    for (number, digest) in [(0, UInt8(7)), (3, 8)] {
      let piece = Bundles.Piece(bundle: 0, role: .piece(number), kept: nil)
      _ = work.accept(Self.body(digest), for: piece, by: Self.response(pieces[number].name))
    }
    work.outcome = .failed(Self.failure)
    _ = work.next(nil, mayShow: true)
    _ = work.read(Self.reading([pieces[0]]), isHere: Self.all)
    let record = ContentRecord(url: "https://a.example/film.m3u8", id: "")
    let now = Instant(seconds: 9)
    var whole = work.whole(
      of: record,
      wasUsable: false,
      [Self.body(6)],
      at: now,
      isHere: Self.all
    )
    work.keepRest(in: &whole)
    let waiting = whole.record.files.filter(\.isReserved).map(\.digest)
    #expect(waiting == [Self.digest(8), Self.digest(1)], "the piece, and what says of which film")
    #expect(Set(whole.otherBodies.map(\.id)) == [1, 7, 8] && whole.surplus.isEmpty)
  }

  @Test(
    "An item that is too large or was tampered with is not shown",
    arguments: [
      (ErrorCode.tooLarge, false), (.cacheFull, false), (.pinMismatch, false), (.gone, true),
    ]
  )
  func shownBeginnings(code: ErrorCode, isShown: Bool) throws {
    var (work, _) = try Self.gathered()
    work.rules.keepsPartial = true
    work.outcome = .failed(Failure(code, "no"))
    #expect(Self.stage(of: work, mayShow: true) == (isShown ? .isToBeRead : .fails(code)))
  }

  // MARK: The whole

  /// Returns an item whose only piece has arrived.
  private static func gathered(sizeLimit: Int64? = nil) throws -> (BundleWork, Failure?) {
    var work = try #require(Self.work(sizeLimit: sizeLimit))
    _ = work.read(reading([listed("a.ts")]), isHere: all)
    let piece = Bundles.Piece(bundle: 0, role: .piece(0), kept: nil)
    let objection = work.accept(body(7), for: piece, by: response("a.ts"))
    return (work, objection)
  }

  @Test("The files of an item have a common size limit")
  func limit() throws {
    let fitting = try Self.gathered(sizeLimit: 16)
    let larger = try Self.gathered(sizeLimit: 15)
    #expect(fitting.1 == nil && larger.1?.code == .tooLarge)
  }

  @Test("Equal files make the same item, and others a new one")
  func whole() throws {
    var (work, _) = try Self.gathered()
    let texts = work.namedTexts()
    #expect(texts[0].bytes.contains(UInt8(ascii: ".")))
    let record = ContentRecord(url: "https://a.example/film.m3u8", id: "")
    let now = Instant(seconds: 9)
    let text = Self.body(8)
    let new = work.whole(of: record, wasUsable: false, [text], at: now, isHere: Self.all)
    #expect(!new.isSame && new.record.fetchedAt == now && new.main == text)
    #expect(new.otherBodies.map(\.id) == [7, 1] && new.surplus.isEmpty)
    #expect(new.record.files.map(\.role) == [.document, .media])
    let same = work.whole(
      of: new.record,
      wasUsable: true,
      [text],
      at: now + .seconds(1),
      isHere: Self.all
    )
    #expect(same.isSame && same.record.fetchedAt == now)
    // Only the main document decides whether the bundle is unchanged.
    #expect(same.surplus.map(\.id) == [7, 1] && same.main == text && same.otherBodies.isEmpty)
    // A lost body is restored together with the bundle.
    let isHere = { (digest: ContentDigest) in digest != Self.digest(7) }
    let healed = work.whole(of: new.record, wasUsable: true, [text], at: now, isHere: isHere)
    #expect(healed.isSame && healed.otherBodies.map(\.id) == [7])
  }

  @Test("Stored pieces are reserved for the rest and precede the visible files")
  func reserve() throws {
    var work = try #require(Self.work(stored: [Self.file("b.ts", 5)]))
    _ = work.read(Self.reading([Self.listed("a.ts"), Self.listed("b.ts")]), isHere: Self.all)
    var record = ContentRecord(url: "https://a.example/film.m3u8", id: "")
    let nothing = work.reserve(in: &record)
    #expect(nothing == nil)
    let piece = Bundles.Piece(bundle: 0, role: .piece(0), kept: nil)
    _ = work.accept(Self.body(7), for: piece, by: Self.response("a.ts"))
    let reserved = work.reserve(in: &record)
    let bodies = try #require(reserved)
    #expect(bodies.map(\.id) == [7, 1])
    #expect(record.files.map(\.digest) == [Self.digest(1), Self.digest(7)])
    #expect(record.files.map(\.isReserved) == [true, true])
    work.drop(bodies)
    #expect(work.staged.isEmpty)
    // The next run continues from the stored files.
    var next = try #require(Self.work(stored: record.files))
    let wanted = next.read(
      Self.reading([Self.listed("a.ts"), Self.listed("c.ts")]),
      isHere: Self.all
    )
    #expect(wanted.map(\.entry.url) == [Self.url("c.ts")])
  }

  @Test("Pieces are known by their numbers until they end")
  func pieces() throws {
    var bundles = Bundles()
    let work = try #require(Self.work())
    bundles[3] = work
    _ = bundles[3]?.read(
      Self.reading([Self.listed("a.ts"), Self.listed("b.ts")]),
      isHere: Self.all
    )
    bundles.begin(Bundles.Piece(bundle: 3, role: .piece(0), kept: nil), as: 4)
    bundles.begin(Bundles.Piece(bundle: 3, role: .piece(1), kept: nil), as: 5)
    #expect(bundles[3]?.open == 2 && bundles.piece(4)?.bundle == 3 && bundles.piece(3) == nil)
    #expect(!bundles.cannotComplete(4) && bundles.parent(of: 5)?.item == 3)
    _ = bundles.end(4, at: Self.url("a.ts"), .failed(Self.failure), mayContinue: true)
    #expect(bundles.piece(4) == nil && bundles.cannotComplete(5) && bundles[3]?.open == 1)
    _ = bundles.end(4, at: Self.url("a.ts"), nil, mayContinue: true)
    #expect(bundles[3]?.open == 1)
  }
}
