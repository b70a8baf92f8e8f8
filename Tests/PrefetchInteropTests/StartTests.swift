import Testing

@Suite("The binary", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct StartTests {
  @Test(
    "The installed binary needs no Foundation and no Swift library",
    .enabled(if: Binary.isRelease, "needs a release, as examples/install/build makes it")
  )
  func linksLittle() throws {
    let home = try Home()
    let binary = try #require(Binary.path)
    let needed = try home.tool("ldd", binary)
    #expect(needed.status == 0)
    #expect(needed.output.contains("libcurl"))
    for name in ["Foundation", "libicu", "libdispatch"] {
      #expect(!needed.output.contains(name), "\(needed.output)")
    }
    // The symbols of a library that was linked in statically would stay.
    let symbols = try home.shell(#"grep -c -a -E 'FoundationICU|10Foundation4DataV' "$prefetch""#)
    #expect(symbols.output == "0\n")
  }

  @Test(
    "The binary ends with 1 and does nothing where it cannot read its arguments",
    .enabled(if: mayHideProcesses, "needs a private mount (unshare)")
  )
  func readsNoWords() throws {
    let home = try Home()
    home.configure("segments: [{ name: one, urls: [\"http://127.0.0.1:9/\"] }]")
    let run = try home.shell("\(Self.begin) 'mount -t tmpfs none /proc && \"$prefetch\" --version'")
    #expect(run.status == 1 && run.output.isEmpty, "\(run)")
    #expect(run.errors.contains("`/proc` is not mounted"), "\(run)")
  }

  private static let begin = "unshare --user --map-root-user --mount sh -c"

  private static let mayHideProcesses =
    (try? Home().shell("\(begin) 'mount -t tmpfs none /proc'"))?.status == 0
}
