@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("Editions of a stream", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
final class BundleEditionTests: StreamGround {
  @Test("A re-encoded film under the same names is the new one as a whole")
  func reencoded() throws {
    configure("    publish: { dir: screen }")
    encodeAgain(1)
    #expect(try home.run("-q").status == 0)
    encodeAgain(2)
    // A piece is equal in both editions.
    site["/same-3.ts"] = Site.Page(String(repeating: "1.3 ", count: 300))
    trap.set(nil)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    #expect(trap.requests.allSatisfy { $0.headers["If-None-Match"] != nil }, "\(trap.requests)")
    #expect(try shown() == (0..<6).map { "\($0 == 3 ? 1 : 2).\($0)" })
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(trap.requests.map(\.path) == ["/film.m3u8"], "unchanged")
    #expect(try home.run("verify").status == 0)
  }

  @Test("A changed piece under an unchanged playlist is found by `--revalidate` and `--refetch`")
  func revalidates() throws {
    configure("    publish: { dir: screen }")
    encodeAgain(1)
    #expect(try home.run("-q").status == 0)
    site["/same-2.ts"] = Site.Page(String(repeating: "9.2 ", count: 300))
    #expect(try home.run("-q").status == 0)
    #expect(try shown()[2] == "1.2")
    let plan = try home.run("plan", "--revalidate")
    #expect(plan.lines.allSatisfy { $0.hasPrefix("revalidate\t") }, "\(plan)")
    #expect(plan.output.contains("its pieces are revalidated"), "\(plan)")
    trap.set(nil)
    #expect(try home.run("-q", "--revalidate").status == 0)
    #expect(trap.requests.count == 7)
    #expect(trap.requests.allSatisfy { $0.headers["If-None-Match"] != nil })
    #expect(try shown()[2] == "9.2")
    trap.set(nil)
    #expect(try home.run("-q", "--refetch").status == 0)
    #expect(trap.requests.count == 7)
    #expect(trap.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
    #expect(try home.run("verify").status == 0)
  }

  @Test("A lost piece or playlist is fetched again, and nothing else")
  func lost() throws {
    publish(version: 1, pieces: 4)
    #expect(try home.run("-q").status == 0)
    let files = try home.run("explain", "film", "--json").json().list("files")
    for file in files where file.text("name") != nil {
      let path = try #require(file.text("path"))
      FileTree.remove(path)
      trap.set(nil)
      #expect(try home.run("-q").status == 0, "\(file)")
      #expect(FileTree.read(path) != nil, "\(file)")
      #expect(trap.requests.count <= 3, "\(trap.requests.map(\.path))")
      #expect(try home.run("verify", "-q").status == 0, "\(file)")
    }
  }

  @Test("A longer playlist causes requests for new pieces only")
  func extended() throws {
    encodeAgain(1)
    #expect(try home.run("-q").status == 0)
    encodeAgain(1, pieces: 9)
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(
      trap.requests.map(\.path).sorted()
        == ["/film.m3u8"] + (6..<9).map { "/same-\($0).ts" }
    )
  }

  @Test("Reserved pieces of an incomplete edition do not become pieces of the next one")
  func abandoned() throws {
    configure("    publish: { dir: screen }")
    encodeAgain(1)
    site["/same-5.ts"] = nil
    #expect(try home.run("-q").status == 4)
    encodeAgain(2)
    site["/same-3.ts"] = nil
    #expect(try home.run("-q", "-j", "1").status == 4)
    encodeAgain(2)
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(
      trap.requests.map(\.path).sorted()
        == ["/film.m3u8"] + (3..<6).map { "/same-\($0).ts" },
      "no piece that is whole moves twice"
    )
    #expect(try shown() == (0..<6).map { "2.\($0)" })
    // A new edition is collected while the complete old one is still served.
    encodeAgain(3)
    site["/same-4.ts"] = nil
    #expect(try home.run("-q", "-j", "1").status == 3)
    #expect(try shown() == (0..<6).map { "2.\($0)" })
    encodeAgain(3)
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(trap.requests.allSatisfy { $0.headers["If-None-Match"] != nil })
    #expect(try shown() == (0..<6).map { "3.\($0)" })
    #expect(try home.run("verify").status == 0)
  }

  @Test(
    "A body that is no piece of a film is refused, and the next run fetches the right one",
    arguments: [
      ("/key", "short", ""), ("/same-1.ts", "", ""),
      ("/same-1.ts", "{\"error\": \"log in\"}", ""),
      ("/same-1.ts", "<html>log in</html>", ""),
      ("/same-1.ts", "small", "    expect: { min_size: 1kB }"),
    ]
  )
  func strange(path: String, body: String, lines: String) throws {
    configure(lines)
    encodeAgain(1, pieces: 3)
    put("/key", "0123456789abcdef")
    put("/locked.ts", String(repeating: "0123456789abcdef", count: 100))
    let text = site["/film.m3u8"].map { String(decoding: $0.body, as: UTF8.self) } ?? ""
    put(
      "/film.m3u8",
      text.replacing(
        "#EXT-X-ENDLIST",
        with: "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n#EXTINF:2,\nlocked.ts\n#EXT-X-ENDLIST"
      )
    )
    let right = site[path]
    put(path, body)
    let failed = try home.run("--json", "-j", "1")
    #expect(failed.status == 4, "\(failed)")
    #expect(try failed.json().text("items.0.error.message")?.contains(path) == true, "\(failed)")
    #expect(FileTree.objects(home.cache)[Digest.hexadecimal(body)] == nil)
    site[path] = right
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("path", "film").status == 0)
    #expect(FileTree.objects(home.cache)[Digest.hexadecimal(right?.body ?? [])] != nil)
  }

  @Test(
    "The rest of a ranged file is requested, unless the file has changed",
    arguments: [
      (tag: "\"1\"", next: "\"1\""), ("\"1\"", "\"2\""), ("W/\"1\"", "W/\"1\""),
    ]
  )
  func rest(_ row: (tag: String, next: String)) throws {
    let file = (0..<300).flatMap { Array("piece \($0 % 10) ".utf8) }
    site["/one.ts"] = Site.Page(Array(file.prefix(1_200)), entityTag: row.tag)
    let lines = (0..<4).map { "#EXTINF:2,\n#EXT-X-BYTERANGE:300@\(300 * $0)\none.ts" }
    put("/film.m3u8", Self.media(lines))
    configure("    seconds: 4\n    publish: { dir: screen }")
    #expect(try home.run("-q").status == 0)
    #expect(trap.requests.last?.headers["Range"] == "bytes=0-599")
    configure("    publish: { dir: screen }")
    let next = row.next == row.tag ? file.prefix(1_200) : file.suffix(1_200)
    site["/one.ts"] = Site.Page(Array(next), entityTag: row.next)
    trap.set(nil)
    let run = try home.run("--json")
    #expect(run.status == 0, "\(run)")
    let requested = try #require(trap.requests.last { $0.path == "/one.ts" })
    #expect(
      requested.headers["Range"] == (row.tag.hasPrefix("W") ? nil : "bytes=600-"),
      "\(requested)"
    )
    let whole = try home.shell("cat $(find screen -name '*.ts')").output
    #expect(Array(whole.utf8) == site["/one.ts"]?.body)
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test("A damaged stored beginning is not resumed")
  func damagedBeginning() throws {
    let file = (0..<150).flatMap { Array("piece \($0 % 10) ".utf8) }
    site["/one.ts"] = Site.Page(file, entityTag: "\"1\"")
    let lines = (0..<4).map { "#EXTINF:2,\n#EXT-X-BYTERANGE:300@\(300 * $0)\none.ts" }
    put("/film.m3u8", Self.media(lines))
    configure("    seconds: 4")
    #expect(try home.run("-q").status == 0)
    let digest = Digest.hexadecimal(Array(file.prefix(600)))
    let path = "\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)"
    let spoiled = try home.shell(
      "chmod u+w \(path); printf x | dd of=\(path) conv=notrunc status=none; chmod u-w \(path)"
    )
    #expect(spoiled.status == 0)
    configure("    publish: { dir: screen }")
    trap.set(nil)
    #expect(try home.run("-q").status == 0)
    #expect(trap.requests.last { $0.path == "/one.ts" }?.headers["Range"] == nil)
    #expect(Array(try home.shell("cat $(find screen -name '*.ts')").output.utf8) == file)
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test("An interrupted rest is resumed in the same run and in the next")
  func restBrokenOff() throws {
    let file = (0..<300_000).flatMap { Array("piece \($0 % 10) ".utf8) }
    site["/one.ts"] = Site.Page(file, entityTag: "\"1\"")
    let half = file.count / 4
    let lines = (0..<4).map { "#EXTINF:2,\n#EXT-X-BYTERANGE:\(half)@\(half * $0)\none.ts" }
    put("/film.m3u8", Self.media(lines))
    let requested = Guarded<[String?]>([])
    let site = site
    let far = try LoopbackServer { request in
      let response = site.respond(to: request)
      guard request.path == "/one.ts" else { return response }
      let count = requested.withLock { all in
        all.append(request.headers["Range"])
        return all.count
      }
      // The first request delivers the beginning; two responses break off.
      guard (2...3).contains(count), case .send(let bytes)? = response.steps.first else {
        return response
      }
      return Script([.send(Array(bytes.prefix(300_000))), .close])
    }
    func configure(_ lines: String) {
      home.configure(
        """
        cache: { min_free: 0 }
        network: { retries: { items: 1, delay: 1ms, max_delay: 2ms } }
        segments:
          - name: films
            urls: [{ url: "\(far.address("/film.m3u8"))", type: hls, id: film }]
        \(lines)
        """
      )
    }
    configure("    seconds: 2")
    #expect(try home.run("-q").status == 0)
    configure("    publish: { dir: screen }")
    #expect(try home.run("-q").status == 3)
    #expect(try home.run("-q").status == 0)
    let begins = requested.withLock(\.self).map { range in
      range.flatMap { $0.split(separator: "=").last }.flatMap { Int($0.prefix { $0 != "-" }) }
    }
    #expect(begins.count == 4 && begins[0] == 0 && begins[1] == half, "\(begins)")
    #expect(
      begins == begins.sorted { ($0 ?? 0) < ($1 ?? 0) } && begins[3] != begins[1],
      "\(begins)"
    )
    #expect(Array(try home.shell("cat $(find screen -name '*.ts')").output.utf8) == file)
    #expect(try home.run("verify", "-q").status == 0)
  }
}
