import PrefetchConfig
import PrefetchCore
import Testing

@testable import PrefetchCLI

/// The programs that reports are for, as far as they are installed.
@Suite("Reports before their readers")
struct ReportReaderTests {
  private static func file(_ bytes: [UInt8]) -> RepositoryFile {
    let file = RepositoryFile(path: "/tmp/prefetch-report-\(UInt64.random(in: 0...UInt64.max))")
    file.write(String(decoding: bytes, as: UTF8.self))
    return file
  }

  @Test(
    "JUnit matches its schema, whatever happened and whatever the names",
    .enabled(if: Tool.isInstalled("xmllint"), "needs xmllint"),
    arguments: ["plain", "a <b> & \"c\" 'd'\u{202E}\u{0}\n\t]]>"]
  )
  func junit(foreign: String) throws {
    let xmllint = try #require(Tool("xmllint"))
    let schema = RepositoryFile.snapshot("../Schemas/junit.xsd").path
    var failed = ReportFixture(foreign: foreign, own: foreign).envelope
    failed.beginning = .failed
    failed.report.segments = []
    failed.report.items = []
    let envelopes = [ReportFixture(foreign: foreign, own: foreign).envelope, failed]
    for envelope in envelopes {
      let file = Self.file(ReportRendering.bytes(envelope, as: .junit))
      defer { file.remove() }
      let run = xmllint.run(["--noout", "--nonet", "--schema", schema, file.path])
      #expect(run.status == 0, "\(run.output)")
    }
  }

  @Test("The schema refuses what a reader would", .enabled(if: Tool.isInstalled("xmllint")))
  func schema() throws {
    let xmllint = try #require(Tool("xmllint"))
    let schema = RepositoryFile.snapshot("../Schemas/junit.xsd").path
    let text = String(
      decoding: ReportRendering.bytes(ReportFixture().envelope, as: .junit),
      as: UTF8.self
    )
    for (old, new) in [
      (" classname=\"basics\"", ""), ("<system-err/>", ""), ("hostname=", "host="),
      ("<properties/>", ""), ("<skipped", "<delayed"), (" errors=\"", " mistakes=\""),
      ("timestamp=\"2026-11-20T05:00:00\"", "timestamp=\"yesterday\""),
    ] {
      #expect(text.contains(old), "\(old)")
      let file = Self.file(Array(text.replacing(old, with: new, maxReplacements: 1).utf8))
      defer { file.remove() }
      #expect(
        xmllint.run(["--noout", "--nonet", "--schema", schema, file.path]).status != 0,
        "\(old)"
      )
    }
  }
}
