import PrefetchConfig
import PrefetchCore
import PrefetchServe
import PrefetchStore
import PrefetchSystem
import Synchronization

/// Resolves addresses and names of clients to URLs.
struct PulledNames {
  let pull: ItemPull
  let session: ItemSession
  let builder: RequestBuilder
  private(set) var lists = ReadLists()

  private var context: CommandContext { session.context }

  init(pull: ItemPull, session: ItemSession, builder: RequestBuilder) {
    self.pull = pull
    self.session = session
    self.builder = builder
  }

  mutating func urls(
    of wishes: [PullWish],
    _ replies: PullReplies
  ) throws(CommandExit) -> [(wish: Int, url: WebURL)] {
    if let wish = wishes.first, wish.url == nil, let name = wish.name {
      if let url = try find(name, wish) { return [(0, url)] }
      replies.give(unknown, to: 0)
      return []
    }
    let addresses = wishes.map { $0.url ?? $0.address }
    let secure = addresses.map { $0.contains("://") ? nil : try? WebURL("https://\($0)") }
    let now = context.clock.now().wall
    let insecure = addresses.indices.map { number in
      secure[number].flatMap { self.insecureURL($0, addresses[number], at: now) }
    }
    let undecided = addresses.indices.compactMap { insecure[$0] == nil ? nil : secure[$0] }
    let declared = try undecided.isEmpty ? DeclaredItems() : self.declared(undecided)
    var urls: [(wish: Int, url: WebURL)] = []
    for (number, address) in addresses.enumerated() {
      var url = secure[number] ?? (address.contains("://") ? try? WebURL(address) : nil)
      if let secure = secure[number], let insecure = insecure[number], declared[secure].isEmpty {
        url = insecure
      }
      if let url {
        urls.append((number, url))
      } else {
        replies.give(pull.failed(.badURL, "it is not a URL that can be requested"), to: number)
      }
    }
    return urls
  }

  private func declared(_ urls: [WebURL]) throws(CommandExit) -> DeclaredItems {
    let store = try session.store()
    return try context.reading { () throws(Failure) in
      try DeclaredItems(of: urls, by: builder, in: store, searchesAll: pull.withholds)
    }
  }

  private mutating func find(
    _ name: PullWish.Name,
    _ wish: PullWish
  ) throws(CommandExit) -> WebURL? {
    let word = name.provider.map { "\($0)/\(name.id)" } ?? name.id
    let lookup = ItemLookup(context: context)
    let store = try session.store()
    if let record = try lookup.cached(word, in: store) {
      return try? WebURL(record.shownURL)
    }
    if let known = try lookup.declared(word, builder, in: store) { return known.url }
    let reading = ListReading(session: session, builder: builder, stop: pull.stop)
    lists = try pull.lists.read(
      at: context.clock.now().uptime,
      lasting: wish.hasNoCache ? .zero : pull.loaded.configuration.cache.negativeTimeToLive
    ) { () throws(CommandExit) in try reading.read() }
    return try lookup.declared(word, builder, in: store, lists: lists)?.url
  }

  private var unknown: PullOutcome {
    guard lists.status != .nothing, let warning = lists.warnings.first else {
      return PullOutcome(.gone(status: 404, isRemembered: false))
    }
    return pull.failed(.notInManifest, warning.message)
  }

  /// Returns the `http` URL, if the configuration allows plain HTTP to this host or network.
  private func insecureURL(_ url: WebURL, _ address: String, at now: Instant) -> WebURL? {
    let rules = pull.loaded.configuration.transportSecurity.effective
    guard url.port != 443, let insecure = try? WebURL("http://\(address)") else { return nil }
    return switch rules.basis(of: insecure, at: now) {
    case .exception(_, let exception): exception.allowsInsecureHTTP ? insecure : nil
    case .localNetworking, .plainHTTP: insecure
    case .rules, .expired, .plainHTTPExpired, .media, .webContent, .arbitraryLoads: nil
    }
  }
}

/// Cache of fetched lists, so that they are not fetched again at once.
final class ListMemory: Sendable {
  private let last = Mutex<(lists: ReadLists, at: Duration)?>(nil)

  /// Returns the lists; concurrent callers wait for one fetch.
  func read(
    at now: Duration,
    lasting: Duration,
    _ read: () throws(CommandExit) -> ReadLists
  ) throws(CommandExit) -> ReadLists {
    let outcome = last.withLock { last -> Result<ReadLists, CommandExit> in
      if let last, now - last.at < lasting { return .success(last.lists) }
      do throws(CommandExit) {
        let lists = try read()
        if lists.isWhole { last = (lists, now) }
        return .success(lists)
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }
}
