import PrefetchCore
import Testing

@Suite("Names that look like personal data")
struct PrivateNameTests {
  @Test(
    "Names that look like personal data are noticed",
    arguments: [
      ("login of alice@example.org", .mailAddress), ("a_b@mail.example.co.uk!", .mailAddress),
      ("call +49 170 1234567", .phoneNumber), ("555-123-4567", .phoneNumber),
      ("(0170) 12 34 56 78", .phoneNumber), ("4111111111111111x", .userID),
      ("order 123456789", .personalNumber), ("user-4711", .userID), ("uid8f3a opened", .userID),
      ("Customer 20314", .userID), ("device_77f0", .userID),
      ("8c1f0e0b-5d5e-4b7f-9f0a-6f1f3c2b1a00", .userID),
    ] as [(String, PrivateName)]
  )
  func noticed(name: String, finding: PrivateName) {
    #expect(PrivateName.found(in: name) == finding)
    #expect(!finding.words.isEmpty)
  }

  @Test(
    "Names without personal data are not flagged",
    arguments: [
      "tapped home button", "nightly-import", "release 2026-11-24", "backup-20261124",
      "at 20261124093000", "v1.2.34", "10.250.31.7", "192.168.100.200", "user2", "user login",
      "new users", "login screen", "season 2 episode 12", "@home", "a @ b", "me@here", "1080p",
      "feedface", "3600000 ms", "",
    ]
  )
  func others(name: String) {
    #expect(PrivateName.found(in: name) == nil)
  }
}
