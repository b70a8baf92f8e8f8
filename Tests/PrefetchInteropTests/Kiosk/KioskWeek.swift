@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

/// A kiosk over several days of simulated time, with players that use it continuously.
///
/// Runs happen by night; power cuts, bad networks, a full disk and a wrong clock occur.
final class KioskWeek {
  /// Clock at boot, before the time is set.
  enum Boot {
    case right
    case in1970
    case yearAhead
  }

  /// Conditions of a day.
  struct Day {
    var line = KioskOrigin.Line.sound
    var isMetered = false
    var isDiskFull = false
    var losesPower = false
    var boot = Boot.right
  }

  /// A film that a player has begun.
  private struct Show {
    var film: Int
    var paths: [String]
    var bodies: [String] = []
  }

  private static let days: [Day] = [
    Day(losesPower: true),
    Day(losesPower: true),
    Day(isMetered: true),
    Day(line: .breaking, losesPower: true),
    Day(isDiskFull: true, losesPower: true),
    Day(line: .away), Day(line: .away), Day(line: .away), Day(line: .away),
    Day(losesPower: true, boot: .in1970),
    Day(losesPower: true, boot: .yearAhead),
    Day(line: .breaking, losesPower: true),
  ]
  private static let nightHours = [22, 23, 1, 4]
  private static let dayHours = [9, 14]
  private static let limitedFilms = 3..<6
  private static let dailyLimit = 90_000
  /// Bytes that a killed run may have received without recording them.
  private static let unbooked = 16_384 + 4 * KioskOrigin.Film.largestPiece

  let seed: UInt64
  private(set) var moments = 0
  private(set) var kills = 0
  private(set) var troubles: [String] = []

  private let home: Home
  private let origin: KioskOrigin
  private let server: LoopbackServer
  private let clock: FakedClock
  private var disk: SmallDisk?
  private var random: SeededRandom
  private var serving: (program: FakedProgram, client: RawClient)?
  private var editions = [Int](repeating: 1, count: KioskOrigin.filmCount)
  private var siteEdition = 1
  private var playable: Set<Int> = []
  private var received: [Int64: Int] = [:]
  private var allowance: [Int64: Int] = [:]
  /// Seconds after 1970: the real time, and the kiosk's clock.
  private var moment: Int64 = 0
  private var shown: Int64 = 0
  private var occasion = ""

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededRandom(seed)
    home = try Home(isInMemory: true)
    clock = FakedClock(home)
    let origin = KioskOrigin()
    self.origin = origin
    server = try LoopbackServer { origin.respond(to: $0) }
    disk = SmallDisk(bytes: Self.diskSize, at: home.cache)
    for film in 0..<KioskOrigin.filmCount { origin.publish(film: film, edition: 1) }
    origin.publish(pages: 1) { [server] in server.address($0) }
    let films = { [server] (numbers: Range<Int>) in
      numbers.map {
        "{ url: \"\(server.address("/f\($0)/film.m3u8"))\", id: f\($0), type: hls }"
      }
      .joined(separator: ", ")
    }
    home.configure(
      """
      name: kiosk
      cache: { min_free: 0 }
      network:
        windows: ["22:00-06:00"]
        timezone: Etc/GMT
        metered: defer
        retries: { items: 1, lookups: 1, delay: 1ms, max_delay: 2ms, wait: 1s }
      segments:
        - { name: lobby, priority: 1, urls: [\(films(0..<3))] }
        - { name: hall, urls: [\(films(Self.limitedFilms))], network: { daily_limit: \(Self.dailyLimit)B } }
        - { name: ads, manifest: "\(server.address("/tag"))", format: vast, vast: { zone: screen } }
        - { name: site, manifest: "\(server.address("/site.txt"))" }
      """
    )
  }

  private static let diskSize = 24 << 20

  deinit {
    // Before the folder that they are in.
    serving = nil
    disk = nil
  }

  // MARK: Days

  /// Plays all days with `times` as many hours as the short form.
  func play(times: Int) throws {
    let first = (Int64(time(nil)) / 86_400 - 30) * 86_400
    for (number, day) in Self.days.enumerated() {
      origin.set(day.line)
      if day.isDiskFull { fillDisk() }
      for hour in Self.nightHours + Self.dayHours {
        for part in 0..<times {
          moment = first + Int64(number) * 86_400 + Int64(hour) * 3_600 + Int64(part) * 120
          if hour < 22 { moment += 86_400 }
          try visit(day, "day \(number), \(hour):\(part * 2)")
        }
      }
      if day.isDiskFull { freeDisk() }
    }
    origin.set(.sound)
    try comeToRest(first + Int64(Self.days.count) * 86_400)
  }

  private func visit(_ day: Day, _ name: String) throws {
    occasion = name
    shown = moment
    if day.boot != .right, random.happens(50) {
      shown = day.boot == .in1970 ? moment % 86_400 : moment + 365 * 86_400
    }
    clock.set(to: shown)
    let show = random.happens(60) ? try begin(Int.random(in: 0..<6, using: &random)) : nil
    replaceSomething()
    let isOpen = shown % 86_400 >= 22 * 3_600 || shown % 86_400 < 6 * 3_600
    let mayRequest = isOpen && !day.isMetered
    let before = origin.requestCount
    let isCut = day.losesPower && mayRequest && random.happens(75)
    if isCut { try cutPower(day) } else { try run(day) }
    if !mayRequest, origin.requestCount > before {
      trouble("\(origin.requestCount - before) requests that no rule allows")
    }
    checkDailyLimit(wasCut: isCut)
    if let show { try end(show) }
    try look(at: Int.random(in: 0..<6, using: &random))
  }

  private func replaceSomething() {
    if random.happens(35) {
      let film = Int.random(in: 0..<KioskOrigin.filmCount, using: &random)
      editions[film] += 1
      origin.publish(film: film, edition: editions[film])
    }
    if random.happens(15) {
      siteEdition += 1
      origin.publish(pages: siteEdition) { [server] in server.address($0) }
    }
  }

  /// Checks that a day's bytes exceed the limit by one body at most.
  private func checkDailyLimit(wasCut: Bool) {
    let today = shown / 86_400
    received[today, default: 0] += origin.drainBytes(ofFilms: Self.limitedFilms)
    if wasCut { allowance[today, default: 0] += Self.unbooked }
    let limit = Self.dailyLimit + KioskOrigin.Film.largestPiece + (allowance[today] ?? 0)
    if received[today] ?? 0 > limit {
      trouble("\(received[today] ?? 0) bytes on a day whose limit is \(Self.dailyLimit)")
    }
  }

  private func trouble(_ text: String) {
    troubles.append("\(occasion) (\(Timestamp.format(Instant(seconds: shown)))): \(text)")
  }

  // MARK: Runs

  private func arguments(_ day: Day) -> [String] {
    var words = ["run", "-q", "--network", day.isMetered ? "cellular,metered" : "ethernet"]
    if day.isDiskFull, disk == nil { words += ["--set", "cache.min_free=1000TB"] }
    return words
  }

  private func run(_ day: Day) throws {
    let program = try FakedProgram(home, clock, arguments(day))
    let run = program.finish()
    if ![0, 3, 4, 69, 74, 75].contains(run.status) || run.isOverdue {
      trouble("a run ended so: \(run)")
    }
    if run.status == 74, !day.isDiskFull { trouble("a run ended so: \(run)") }
    if program.hasLeftovers { trouble("a run left something in /dev/shm") }
  }

  /// Ends a run at a random moment, and the server at times.
  private func cutPower(_ day: Day) throws {
    let count = Int.random(in: 1...14, using: &random)
    let isHeld = random.happens(60)
    let delay = CInt.random(in: 0...25, using: &random)
    let before = origin.requestCount
    if isHeld { origin.respond(upTo: count) }
    let program = try FakedProgram(home, clock, arguments(day))
    while program.isRunning, origin.requestCount - before < count { poll(nil, 0, 1) }
    if !isHeld { poll(nil, 0, delay) }
    if program.isRunning { kills += 1 }
    program.signal(SIGKILL)
    _ = program.finish()
    if program.hasLeftovers { trouble("a killed run left something in /dev/shm") }
    origin.respond(upTo: nil)
    if random.happens(40), let serving {
      serving.program.signal(SIGKILL)
      _ = serving.program.finish()
      if serving.program.hasLeftovers { trouble("a killed server left something in /dev/shm") }
      self.serving = nil
    }
  }

  // MARK: The disk

  private var ballast: String { "\(home.cache)/ballast" }

  private func fillDisk() {
    guard let disk else { return }
    let rest = Self.diskSize - disk.usage - 64_000
    FileTree.write([UInt8](repeating: 7, count: max(0, rest)), to: ballast)
  }

  private func freeDisk() {
    _ = unsafe unlink(ballast)
  }

  // MARK: Films

  private func client() throws -> RawClient {
    if let serving { return serving.client }
    let program = try FakedProgram(home, clock, ["serve", "--listen", "127.0.0.1:0"])
    let address = try #require(program.firstLine(), "seed \(seed), \(occasion): no server")
    let client = try RawClient(address)
    serving = (program, client)
    return client
  }

  /// Opens a film and plays its beginning; returns nil when it is not available yet.
  private func begin(_ film: Int) throws -> Show? {
    guard moments > 0 else { return nil }
    let base = "/-/item/-/f\(film)"
    let main = try client().get("\(base)/film.m3u8")
    guard main.status == 200 else {
      // A film that was complete once stays until its next edition is complete.
      if playable.contains(film) { trouble("film \(film) is \(main.status)") }
      return nil
    }
    playable.insert(film)
    let stream = main.body.split(separator: "\n").last { !$0.hasPrefix("#") } ?? ""
    let playlist = try client().get("\(base)/\(stream)")
    guard playlist.status == 200 else {
      trouble("film \(film): its playlist is \(playlist.status)")
      return nil
    }
    let folder = stream.prefix { $0 != "/" }
    let lines = playlist.body.split(separator: "\n").filter { !$0.hasPrefix("#") }
    var show = Show(film: film, paths: lines.map { "\(base)/\(folder)/\($0)" })
    try move(on: &show, to: Int.random(in: 0...show.paths.count, using: &random))
    return show
  }

  private func move(on show: inout Show, to count: Int) throws {
    while show.bodies.count < count {
      let path = show.paths[show.bodies.count]
      let piece = try client().get(path)
      if piece.status != 200 { trouble("film \(show.film): `\(path)` is \(piece.status)") }
      show.bodies.append(piece.status == 200 ? piece.body : "")
    }
  }

  /// Plays the rest of a film, which must all be of one edition.
  private func end(_ given: Show) throws {
    var show = given
    try move(on: &show, to: show.paths.count)
    moments += 1
    guard let film = KioskOrigin.Film(show.bodies.first ?? ""), film.number == show.film,
      1...editions[show.film] ~= film.edition
    else {
      let beginning = show.bodies.first?.prefix { $0 != "\n" } ?? ""
      return trouble("film \(show.film) begins with `\(beginning)`")
    }
    if show.bodies != (0..<KioskOrigin.Film.pieceCount).map(film.body) {
      let words = show.bodies.map { $0.prefix { $0 != "\n" } }
      trouble("film \(show.film) is not one: \(words)")
    }
  }

  private func look(at film: Int) throws {
    if let show = try begin(film) { try end(show) } else { moments += 1 }
  }

  // MARK: The end

  /// Checks that after some undisturbed nights everything equals the origin.
  private func comeToRest(_ start: Int64) throws {
    for night in 0..<8 {
      occasion = "quiet night \(night)"
      moment = start + Int64(night) * 86_400 + 23 * 3_600
      shown = moment
      clock.set(to: shown)
      try run(Day())
      checkDailyLimit(wasCut: false)
    }
    for film in 0..<KioskOrigin.filmCount {
      let show = try begin(film)
      if let show { try end(show) }
      let edition = show.flatMap { KioskOrigin.Film($0.bodies.first ?? "") }?.edition
      if let edition, edition != editions[film] {
        trouble("film \(film) is edition \(edition) of \(editions[film])")
      }
      if !playable.contains(film) { trouble("film \(film) never came") }
    }
    let verification = try FakedProgram(home, clock, ["verify"]).finish()
    if verification.status != 0 { trouble("verify: \(verification)") }
    if origin.countedViews > 0 { trouble("\(origin.countedViews) views were counted") }
    if let serving {
      serving.program.signal(SIGTERM)
      let run = serving.program.finish()
      if run.status != 143 { trouble("the server ended so: \(run)") }
      if serving.program.hasLeftovers { trouble("the server left something in /dev/shm") }
    }
    serving = nil
  }
}
