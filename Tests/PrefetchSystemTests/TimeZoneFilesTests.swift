import Glibc
import PrefetchCore
import PrefetchSystem
import PrefetchTestSupport
import Testing

@Suite struct TimeZoneFilesTests {
  private let files = TimeZoneFiles(variable: nil)

  /// Returns the C library's offsets by way of `date`, an independent program.
  private func offsets(_ zone: String, at seconds: [Int64]) throws -> [Int64] {
    let times = seconds.map(String.init).joined(separator: " ")
    let output = try ChildProcess.output(
      ["/bin/sh", "-c", "for time in \(times); do date -d @$time +%::z; done"],
      environment: ["TZ": zone, "PATH": "/usr/bin:/bin"],
      within: .seconds(120)
    )
    return output.split(separator: "\n").map { line in
      let parts = line.dropFirst().split(separator: ":").compactMap { Int64($0) }
      let size = parts.reduce(0) { $0 * 60 + $1 }
      return line.hasPrefix("-") ? -size : size
    }
  }

  @Test(
    "Every zone agrees with the C library around every change and beyond the table",
    arguments: [
      "Europe/Berlin", "Australia/Lord_Howe", "America/New_York", "Pacific/Auckland",
      "America/Sao_Paulo", "Africa/Casablanca", "Asia/Kathmandu", "America/Nuuk", "Asia/Gaza",
      "Pacific/Apia", "UTC",
    ]
  )
  func agrees(name: String) throws {
    let zone = try #require(files.zone(named: name))
    let first = Timestamp.parse("2015-01-01")?.seconds ?? 0
    let last = Timestamp.parse("2060-01-01")?.seconds ?? 0
    let changes = zone.changes(after: first, upTo: last)
    var seconds = changes.flatMap { [$0 - 1, $0] }
    seconds += stride(from: -2_000_000_000, to: 5_000_000_000, by: 97_000_003)
    let expected = try offsets(name, at: seconds)
    #expect(expected.count == seconds.count)
    for (second, offset) in zip(seconds, expected) {
      #expect(zone.offset(at: second) == offset, "\(name) at \(second)")
    }
    // At each change the offset or a name must differ.
    if name == "UTC" {
      #expect(changes.isEmpty)
    } else {
      #expect(!changes.isEmpty || name == "Asia/Kathmandu")
    }
  }

  @Test("TZ is a name, a path or a rule, and an invalid one is UTC")
  func variable() throws {
    let summer = Timestamp.parse("2026-07-01")?.seconds ?? 0
    let cases: [(String, Int64)] = [
      ("Europe/Berlin", 7200), (":Europe/Berlin", 7200), ("", 0),
      ("CET-1CEST,M3.5.0,M10.5.0/3", 7200),
      ("/usr/share/zoneinfo/Asia/Tokyo", 32_400), ("<+03>-3", 10_800), ("Nowhere/City", 0),
      ("../../../etc/passwd", 0), ("/etc/passwd", 0),
    ]
    for (text, offset) in cases {
      #expect(TimeZoneFiles(variable: text).local.offset(at: summer) == offset, "\(text)")
    }
    #expect(files.zone(named: "Europe/Nowhere") == nil)
    #expect(files.zone(named: "Europe") == nil)
    #expect(TimeZoneFiles(variable: "Asia/Tokyo").zone(named: "local")?.offset(at: 0) == 32_400)
  }

  @Test("A zone name opens only regular files of the zone folder")
  func strangeNames() throws {
    let folder = try TemporaryDirectory()
    let tokyo = try FileReading.read("/usr/share/zoneinfo/Asia/Tokyo", limit: 1 << 20)
    try AtomicFile.write(tokyo, to: "\(folder.path)/Tokyo")
    for name in ["zones", "zones/Asia"] {
      try #require(unsafe mkdir("\(folder.path)/\(name)", 0o700) == 0)
    }
    try AtomicFile.write(tokyo, to: "\(folder.path)/zones/Asia/Tokyo")
    // A reader that opens a pipe without a writer waits for ever.
    try #require(unsafe mkfifo("\(folder.path)/zones/pipe", 0o600) == 0)
    let files = TimeZoneFiles(variable: nil, folder: "\(folder.path)/zones")
    #expect(files.zone(named: "Asia/Tokyo")?.offset(at: 0) == 32_400)
    for name in ["../Tokyo", "Asia/../../Tokyo", "\(folder.path)/Tokyo", "pipe", "Asia", ""] {
      #expect(files.zone(named: name) == nil, "\(name)")
    }
    let variable = TimeZoneFiles(variable: "\(folder.path)/zones/pipe")
    #expect(variable.local.offset(at: 0) == 0)
  }
}
