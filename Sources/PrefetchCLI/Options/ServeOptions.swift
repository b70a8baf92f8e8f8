import PrefetchCore
import PrefetchServe

struct ServeOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  /// Folder to serve instead of the cache.
  var origin: String?
  var pulls = false
  /// Folder of one server that is served at `/`.
  var base: WebURL?
  /// Longest staleness; bare sets no limit.
  var maximumStaleness: OptionalArgument<Duration>?
  var listen = ListenAddress.standard
  var readyDescriptor: Int?
  var lifetime: Duration?
  var events: EventDestination?
  var skipsHooks = false
  var allowedOrigin: String?
  var tokenFile: String?
  var takesEvents = false

  static let command = CommandSpec<ServeOptions>(
    name: "serve",
    group: .everyday,
    summary: "Serve the cache, or a folder, over HTTP on this machine",
    paragraphs: [
      "`https://HOST[:PORT]/PATH?QUERY` is served at `/HOST[:PORT]/PATH?QUERY`, an item also at `/-/item/PROVIDER/ID` (`-` for no provider). `/-/health` answers while the server lives, with what it has counted. GET and HEAD with ranges and conditional requests, and no listings. One line with the server's URL goes to standard output when it accepts connections. If systemd passes a socket, the server uses that and ignores `--listen`.",
      "Without `--pull` it asks no server: a stored body is served however old, and anything else is 404. With `--pull` it fetches what is missing or stale, as `get` would, once for all clients that wait. Headers of a client are passed on only if `Vary` names them, and never its credentials. If the server does not answer, the client gets 502; if a rule defers the request, 503; 4xx passes through. In the first two cases, and for 5xx, an older copy within `--max-stale` or `cache.max_stale` is served instead. 404 and 410 are remembered for `cache.negative_ttl`.",
      "Clients may send `Cache-Control` with `no-cache`, `max-age`, `min-fresh`, `max-stale` and `only-if-cached` (else 504). `Age` and `Cache-Status` say where an answer came from. A damaged body is fetched again or breaks off, and is never sent as whole. A stream that is replaced stays for its players until ten minutes after the last answer.",
      "Requests whose `Host` is not this server, with a foreign `Origin` or with `Sec-Fetch-Site: cross-site` get 403. `--allow-origin` admits one origin. For `null`, the origin of all pages without a server, the path also has to begin with `/-/t/TOKEN/`, with the first line of `--token-file` (16 characters or more). SIGTERM ends the server within two seconds.",
      "With `--events-in` a page may POST a JSON object to `/-/event`, as `event` and `event consume` would record it; `prefetch-report`(5) has the keys.",
    ],
    options: [
      .flag("pull", \.pulls).help("Fetch what is not stored, or no longer fresh"),
      .optionalValue("max-stale", \.maximumStaleness, .duration)
        .help(
          "With `--pull`: when a server cannot be asked, serve a copy that expired at most this long ago, or at any time"
        ),
      .value("origin", \.origin, .directory).help("Serve this folder and nothing else"),
      .value("base-url", \.base, .baseURL)
        .help("Serve what is below this URL at `/`, for tools that know one server alone"),
      .choice("listen", \.listen, .listenAddress)
        .help(
          "Listen on this address and port instead of `127.0.0.1:7733`; port 0 takes a free one"
        ),
      .value("allow-origin", \.allowedOrigin, .webOrigin)
        .help("Let web pages of this origin use the server, or with `null` those without one"),
      .value("token-file", \.tokenFile, .file)
        .help("Take requests whose path begins with `/-/t/` and the token in this file, too"),
      .flag("events-in", \.takesEvents)
        .help("Record what is posted to `/-/event` with the token, as the commands `event` do"),
      .value("ready-fd", \.readyDescriptor, .number(1...1_048_575))
        .help("Write the line with the URL to this descriptor too, and close it"),
      .value("for", \.lifetime, .duration).help("End with 0 after this time"),
      .value("events", \.events, .eventDestination)
        .help("Write `serve.started` and `serve.stopped` to a file or an open descriptor"),
      .flag("no-hooks", \.skipsHooks).help("Start none of the configuration's `hooks`"),
    ],
    exits: [.ok, .failed, .config, .io, .interrupted, .terminated],
    examples: [
      "prefetch serve --pull --max-stale": "Be a mirror of whatever is asked for",
      "prefetch serve --pull --base-url https://registry.npmjs.org/": "Be the registry of npm",
      "prefetch serve --origin ./www --listen 127.0.0.1:0": "Serve a folder on a free port",
      "prefetch serve --token-file token --allow-origin https://kiosk.example --events-in":
        "Let the pages of a kiosk play from the cache, and say what was seen",
    ],
    validate: { options in
      var diagnostics: [Diagnostic] = []
      if options.origin != nil, options.base != nil {
        diagnostics.append(.exclusive("--origin", "--base-url"))
      }
      if options.origin != nil, options.pulls {
        diagnostics.append(.exclusive("--origin", "--pull"))
      }
      if options.allowedOrigin == "null", options.tokenFile == nil {
        diagnostics.append(
          "usage.missing-option",
          "`--allow-origin null` needs `--token-file`: any page can have that origin"
        )
      }
      if options.takesEvents, options.tokenFile == nil {
        diagnostics.append(
          "usage.missing-option",
          "`--events-in` needs `--token-file`: an event has to show the token"
        )
      }
      if options.origin != nil, options.takesEvents {
        diagnostics.append(.exclusive("--origin", "--events-in"))
      }
      if options.maximumStaleness != nil, !options.pulls {
        diagnostics.append(
          "usage.missing-option",
          "`--max-stale` needs `--pull`, which sends requests"
        )
      }
      return diagnostics
    },
    makeCommand: { ServeCommand(context: $0, options: $1) }
  )
}

extension ValueKind where Value == String {
  fileprivate static var webOrigin: Self {
    Self(
      expectation: "`null` or a scheme and a host such as `https://kiosk.example`",
      placeholder: "ORIGIN"
    ) { text in
      guard text != "null" else { return text }
      guard let url = try? WebURL(text + "/"), url.path == "/", url.string == text + "/" else {
        return nil
      }
      return text
    }
  }
}

extension ValueKind where Value == ListenAddress {
  fileprivate static var listenAddress: Self {
    Self(
      expectation: "an address and a port such as `127.0.0.1:7733`, `[::1]:0` or `localhost:8080`",
      placeholder: "A:P"
    ) {
      ListenAddress($0)
    }
  }
}
