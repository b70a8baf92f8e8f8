import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchStore

@Suite("Stored registrations")
struct RegistrationStoreTests {
  private let folder: TemporaryDirectory
  private let now = Instant(seconds: 1_800_000_000)
  private let key = RegistrationKey(licenseFingerprint: "aa", url: "https://license.example/v1")

  init() throws {
    folder = try TemporaryDirectory()
  }

  private var path: String {
    folder.appending("state")
  }

  private static let records: [RegistrationRecord] = {
    let now = Instant(seconds: 1_800_000_000)
    var granted = RegistrationRecord(outcome: .registered, attemptedAt: now)
    granted.network = "eth0 0101A8C0"
    granted.grant = RegistrationRecord.Grant(
      token: Secret("token"),
      expires: now + .seconds(86_400),
      bundleID: "org.example.app",
      policy: #"{"network":{"rate":5}}"#,
      since: now
    )
    var bare = RegistrationRecord(outcome: .registered, attemptedAt: now)
    bare.grant = RegistrationRecord.Grant(since: now)
    var failed = RegistrationRecord(
      outcome: .failed(Failure(.serverBusy, "it answered 503")),
      attemptedAt: now
    )
    failed.notBefore = now + .seconds(60)
    failed.grant = granted.grant
    return [
      granted, bare, failed,
      RegistrationRecord(outcome: .refused(status: 403), attemptedAt: now),
      RegistrationRecord(outcome: .mismatched(bundleID: "other"), attemptedAt: now),
    ]
  }()

  @Test("A registration is read as it was recorded", arguments: records)
  func roundTrip(_ record: RegistrationRecord) throws {
    let state = try StateStore.openForWriting(state: path)
    #expect(try state.registration(key) == nil)
    try state.recordRegistration(record, key)
    #expect(try state.registration(key) == record)
    try state.close()
    var reports: [Diagnostic] = []
    let reader = try #require(try StateStore.openForReading(state: path, reports: &reports))
    #expect(try reader.registration(key) == record)
  }

  @Test("An update of a registration changes the current record, not an earlier one")
  func update() throws {
    let (one, other) = (
      try StateStore.openForWriting(state: path), try StateStore.openForWriting(state: path)
    )
    let before = try one.registration(key)
    #expect(before == nil)
    try other.recordRegistration(Self.records[0], key)
    let failed = RegistrationResponse.failed(Failure(.reset, "reset"))
    let next = try one.updateRegistration(key) {
      RegistrationRule(retry: .seconds(60)).nextRecord(for: failed, after: $0, at: now)
    }
    #expect(next.grant == Self.records[0].grant)
    #expect(try other.registration(key) == next)
  }

  @Test("Registrations are separate by license and by endpoint")
  func keys() throws {
    let state = try StateStore.openForWriting(state: path)
    let refused = RegistrationRecord(outcome: .refused(status: 401), attemptedAt: now)
    try state.recordRegistration(refused, key)
    var otherLicense = key
    otherLicense.licenseFingerprint = "bb"
    var otherServer = key
    otherServer.url = "https://license.example/v2"
    #expect(try state.registration(otherLicense) == nil)
    #expect(try state.registration(otherServer) == nil)
    try state.recordRegistration(Self.records[0], otherLicense)
    #expect(try state.registration(key) == refused)
    #expect(try state.registration(otherLicense) == Self.records[0])
  }

  @Test("The file of registrations is readable for its owner only, also when it existed")
  func mode() throws {
    try StateStore.openForWriting(state: path).close()
    #expect(unsafe chmod("\(path)/state.sqlite", 0o644) == 0)
    let state = try StateStore.openForWriting(state: path)
    try state.recordRegistration(Self.records[0], key)
    for name in FileTree.names(path) where name.hasPrefix("state.sqlite") {
      let status = try #require(FileTree.status("\(path)/\(name)"))
      #expect(status.st_mode & 0o777 == 0o600, "\(name)")
    }
    try state.close()
  }

  @Test("A replaced token of a registration does not stay in the file")
  func replacement() throws {
    let state = try StateStore.openForWriting(state: path)
    var record = Self.records[0]
    record.grant?.token = Secret("token-that-was-replaced")
    try state.recordRegistration(record, key)
    try state.recordRegistration(
      RegistrationRecord(outcome: .refused(status: 401), attemptedAt: now),
      key
    )
    try state.close()
    let bytes = try #require(FileTree.read("\(path)/state.sqlite"))
    #expect(!String(decoding: bytes, as: UTF8.self).contains("token-that-was-replaced"))
  }
}
