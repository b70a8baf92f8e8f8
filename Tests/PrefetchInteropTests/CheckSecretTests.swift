import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("What `check` says", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct CheckSecretTests {
  @Test("holds no secret, even where what is wrong does", arguments: [["--json"], []])
  func masked(arguments: [String]) throws {
    var home = try Home()
    home.variables["KEY"] = "canary-7f3a9c51"
    home.write(
      """
      license: ${env:KEY}
      registration: { url: "http://${env:KEY}.example/x" }
      segments: []

      """
    )
    let check = try home.start(["check"] + arguments).finish()
    #expect("\(check)".contains("config.license-in-clear"), "\(check)")
    #expect("\(check)".contains("***"))
    #expect(!"\(check)".contains("canary-7f3a9c51"), "\(check)")
  }
}
