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

  @Test("says how long it takes to start beside curl", .enabled(if: Tool.isInstalled("curl")))
  func starts() throws {
    let home = try Home()
    let binary = try #require(Binary.path)
    let curl = try #require(Tool("curl")).path
    var ours: [Duration] = []
    var theirs: [Duration] = []
    for _ in 0..<20 {
      ours.append(try time(of: binary, home))
      theirs.append(try time(of: curl, home))
    }
    let (a, b) = (ours.sorted()[10], theirs.sorted()[10])
    let ratio = (a / b * 100).rounded() / 100
    print("start: prefetch \(a), curl \(b), ratio \(ratio)")
  }

  private func time(of program: String, _ home: Home) throws -> Duration {
    let start = ContinuousClock.now
    let run = try RunningProgram(
      program,
      ["--version"],
      environment: home.variables,
      folder: nil
    ).finish()
    #expect(run.status == 0)
    return ContinuousClock.now - start
  }
}
