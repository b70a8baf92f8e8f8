import PrefetchCore
import PrefetchSystem
import Testing

@Suite struct ThisMachineTests {
  private static func output(_ words: String...) throws -> String {
    let text = try ChildProcess.output(
      ["/usr/bin/env"] + words,
      environment: ["PATH": "/usr/bin:/bin"],
      within: .seconds(20)
    )
    return text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
  }

  @Test("The names of the machine and its C library are those of its own tools")
  func platform() throws {
    let platform = try #require(ThisMachine.platform())
    #expect(platform.system == "linux")
    #expect(platform.machine == (try Self.output("uname", "-m")))
    guard case .glibc(let major, let minor) = platform.library else {
      Issue.record("no glibc was found")
      return
    }
    #expect("glibc \(major).\(minor)" == (try Self.output("getconf", "GNU_LIBC_VERSION")))
  }
}
