import Testing

@Suite("The binary", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct StartTests {
  @Test("needs no Foundation and no Swift library where it is installed")
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
}
