import PrefetchCore
import Testing

@Suite struct ManifestGuardTests {
  static let now = Instant(seconds: 1_000)

  struct Given: Sendable {
    var manifest: Manifest
    var segment = SegmentDeclaration(name: "s", source: .file("/m", isStream: true))
    var policy = RunPolicy()

    mutating func mirror() {
      segment.publishing = PublishingRules(folder: "/dir")
      segment.publishing?.mirror = MirrorRules()
    }

    mutating func sign(generated: Int64?, expires: Int64?) {
      segment.manifestKeys = ["key"]
      manifest.generated = generated.map { Instant(seconds: $0) }
      manifest.expires = expires.map { Instant(seconds: $0) }
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var items = 10
    var rejected = 0
    var recordedItems: Int? = 10
    var code: ErrorCode?
    var change: @Sendable (inout Given) -> Void = { _ in }

    var testDescription: String { name }
  }

  static let rows: [Row] = [
    Row(name: "the same number"),
    Row(name: "half, exactly at the fraction", items: 5),
    Row(name: "more than half lost", items: 4, code: .manifestGuard),
    Row(name: "more than half lost in a local file", items: 4) {
      $0.segment.source = .file("/m")
    },
    Row(name: "all lost in a local file", items: 0, code: .manifestGuard) {
      $0.segment.source = .file("/m")
    },
    Row(name: "rejected entries are items", items: 4, rejected: 1),
    Row(name: "below three nothing is a mass", items: 1, recordedItems: 2) {
      $0.policy.maximumRemovalFraction = 0.2
    },
    Row(name: "of three items two are a mass", items: 1, recordedItems: 3, code: .manifestGuard),
    Row(name: "empty", items: 0, recordedItems: nil, code: .manifestGuard),
    Row(name: "empty of a few", items: 0, recordedItems: 3, code: .manifestGuard),
    Row(name: "allowed to be empty", items: 0, recordedItems: 20) { $0.segment.allowsEmpty = true },
    Row(name: "nearly empty is no empty", items: 1, recordedItems: 20, code: .manifestGuard) {
      $0.segment.allowsEmpty = true
    },
    Row(name: "mass removal allowed", items: 1, recordedItems: 100) {
      $0.policy.allowsMassRemoval = true
    },
    Row(name: "mass removal allowed, but empty", items: 0, recordedItems: 100, code: .manifestGuard)
    {
      $0.policy.allowsMassRemoval = true
    },
    Row(name: "of another segment, in a mirror") {
      $0.mirror()
      $0.manifest.segment = "other"
    },
    Row(name: "empty, in a mirror of nothing", items: 0, recordedItems: nil, code: .manifestGuard) {
      $0.mirror()
    },
    Row(name: "empty again, in a mirror", items: 0, recordedItems: 0, code: .manifestGuard) {
      $0.mirror()
    },
    Row(
      name: "empty, in a mirror with mass removal allowed",
      items: 0,
      recordedItems: 100,
      code: .manifestGuard
    ) {
      $0.mirror()
      $0.policy.allowsMassRemoval = true
    },
    Row(name: "empty, in a mirror that allows it", items: 0, recordedItems: 100) {
      $0.mirror()
      $0.segment.allowsEmpty = true
    },
    Row(name: "a fraction of its own", items: 79, recordedItems: 100, code: .manifestGuard) {
      $0.policy.maximumRemovalFraction = 0.2
    },
    Row(name: "exactly at a fraction of its own", items: 80, recordedItems: 100) {
      $0.policy.maximumRemovalFraction = 0.2
    },
    Row(name: "never seen before", items: 1, recordedItems: nil),
    Row(name: "older than the stored one", code: .manifestGuard) {
      $0.manifest.generated = Instant(seconds: 499)
    },
    Row(name: "as old as the stored one") {
      $0.manifest.generated = Instant(seconds: 500)
    },
    Row(name: "rollback allowed") {
      $0.manifest.generated = Instant(seconds: 1)
      $0.policy.allowsRollback = true
    },
    Row(name: "expired", code: .manifestGuard) { $0.manifest.expires = now },
    Row(name: "not yet expired") { $0.manifest.expires = now + .milliseconds(1) },
    Row(name: "signed and in time") { $0.sign(generated: 500, expires: 2_000) },
    Row(name: "signed, expired", code: .signature) { $0.sign(generated: 500, expires: 1_000) },
    Row(name: "signed, without a time", code: .signature) {
      $0.sign(generated: nil, expires: 2_000)
    },
    Row(name: "signed, without an end", code: .signature) { $0.sign(generated: 500, expires: nil) },
    Row(name: "signed, older", code: .rollback) { $0.sign(generated: 499, expires: 2_000) },
    Row(name: "signed, older and allowed") {
      $0.sign(generated: 499, expires: 2_000)
      $0.policy.allowsRollback = true
    },
    Row(name: "signed, more than half lost", items: 4, code: .manifestGuard) {
      $0.sign(generated: 500, expires: 2_000)
    },
    Row(name: "another segment's", code: .manifestInvalid) {
      $0.manifest.segment = "other"
    },
    Row(name: "our segment's") { $0.manifest.segment = "s" },
    Row(name: "another bundle's", code: .bundleMismatch) {
      $0.manifest.bundleID = "org.other"
    },
    Row(name: "our bundle's") { $0.manifest.bundleID = "org.me" },
  ]

  @Test("A new manifest is guarded by the last good one", arguments: rows)
  func table(row: Row) throws {
    let entry = ManifestEntry(url: try WebURL("https://a.example/"))
    let refused = RejectedEntry(url: "x", failure: Failure(.badURL, "bad"))
    var given = Given(
      manifest: Manifest(
        entries: EntryTable(repeatElement(entry, count: row.items))
      )
    )
    given.manifest.rejected = Array(repeating: refused, count: row.rejected)
    row.change(&given)
    let recorded = row.recordedItems.map { count in
      var record = SegmentRecord(key: SegmentKey(identity: "me", name: "s"))
      record.manifestURL = "https://a.example/m"
      record.generated = Instant(seconds: 500)
      record.itemCount = count
      return record
    }
    let objection = ManifestGuard.objection(
      to: given.manifest,
      of: given.segment,
      bundleID: "org.me",
      recorded: recorded,
      policy: given.policy,
      now: Self.now
    )
    #expect(objection?.code == row.code)
  }

  @Test("A segment with inline URLs may become one with a manifest")
  func afterInline() throws {
    var record = SegmentRecord(key: SegmentKey(identity: "me", name: "s"))
    record.itemCount = 100
    let entry = ManifestEntry(url: try WebURL("https://a.example/"))
    #expect(
      ManifestGuard.objection(
        to: Manifest(entries: [entry]),
        of: SegmentDeclaration(name: "s", source: .file("/m")),
        bundleID: nil,
        recorded: record,
        policy: RunPolicy(),
        now: Self.now
      ) == nil
    )
  }

  @Test("Faults of a signed manifest are breaches of trust", arguments: [true, false])
  func trust(needsSignature: Bool) {
    var manifest = ManifestResult(url: "https://a.example/m", status: .refused)
    manifest.failure = Failure(.manifestGuard, "it has 1 item where the stored one has 100")
    manifest.needsSignature = needsSignature
    var report = Report(mode: .run, identity: "me", started: Self.now)
    report.segments = [Report.Segment(name: "s", state: .incomplete, manifest: manifest)]
    #expect(PrefetchCore.ExitStatus(report) == (needsSignature ? .trust : .incomplete))
  }

  struct DocumentRow: Sendable {
    var kind: FurtherDocument.Role
    var generated: Int64?
    var expires: Int64? = 2_000
    var stored: Int64?
    var isSigned = true
    var code: ErrorCode?
  }

  static let documents: [DocumentRow] = [
    DocumentRow(kind: .page, generated: 500),
    DocumentRow(kind: .page, generated: 501, code: .signature),
    DocumentRow(kind: .page, generated: 499, code: .signature),
    DocumentRow(kind: .page, generated: nil, code: .signature),
    DocumentRow(kind: .page, generated: 500, expires: nil, code: .signature),
    DocumentRow(kind: .page, generated: 500, expires: 1_000, code: .signature),
    DocumentRow(kind: .page, generated: nil, expires: nil, isSigned: false),
    DocumentRow(kind: .page, generated: 1, expires: nil, isSigned: false),
    DocumentRow(kind: .sitemap(level: 1), generated: 400, stored: 400),
    DocumentRow(kind: .sitemap(level: 1), generated: 400, stored: 401, code: .rollback),
    DocumentRow(kind: .sitemap(level: 1), generated: 1, stored: 401, isSigned: false),
  ]

  @Test("Signed parts belong to their manifest and are not older than before", arguments: documents)
  func signedParts(row: DocumentRow) throws {
    var manifest = Manifest()
    manifest.generated = row.generated.map { Instant(seconds: $0) }
    manifest.expires = row.expires.map { Instant(seconds: $0) }
    let objection = ManifestGuard.objection(
      to: manifest,
      asFurtherDocument: FurtherDocument(url: try WebURL("https://a.example/2"), kind: row.kind),
      of: SegmentDeclaration(name: "s", source: .file("/m")),
      madeWith: Instant(seconds: 500),
      stored: row.stored.map { Instant(seconds: $0) },
      isSigned: row.isSigned,
      policy: RunPolicy(),
      bundleID: nil,
      now: Self.now
    )
    #expect(objection?.code == row.code)
  }

  @Test("An index of packages is accepted as a page")
  func packageIndex() throws {
    let requirement = PackageRequirement(project: "x", version: "1", digests: [])
    let url = try WebURL("https://a.example/x/")
    let index = FurtherDocument(url: url, kind: .packageIndex(requirement))
    #expect(ManifestGuard.objection(toType: "text/html", of: index) == nil)
    #expect(
      ManifestGuard.objection(toType: "text/html", of: FurtherDocument(url: url, kind: .page))
        != nil
    )
  }

  @Test(
    "A page or a medium in place of a manifest is refused, and data is not",
    arguments: [
      ("text/html", true), ("application/xhtml", true), ("image/png", true), ("text/css", true),
      ("application/json", false), ("text/plain", false), ("application/octet-stream", false),
      ("application/vnd.prefetch.manifest", false),
    ]
  )
  func types(mime: String, isRefused: Bool) {
    #expect((ManifestGuard.objection(toType: mime) != nil) == isRefused)
  }
}
