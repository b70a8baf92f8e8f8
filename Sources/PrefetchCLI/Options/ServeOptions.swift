import PrefetchCore
import PrefetchServe

/// The options of `serve`.
struct ServeOptions: CommandOptions, Hashable {
  var shared = SharedOptions()
  /// The folder to serve instead of the cache.
  var origin: String?
  var pulls = false
  /// The folder of one server that is served at `/`.
  var base: WebURL?
  /// Bare takes a copy however stale it is.
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
      "What is stored of `https://HOST[:PORT]/PATH?QUERY` is at `/HOST[:PORT]/PATH?QUERY`, and at `/-/item/PROVIDER/ID` (`-` for no provider); `/-/health` says that the server lives, and what it has counted. A stream that is replaced while it plays stays for its players, until ten minutes after the last answer. GET and HEAD with ranges and conditional requests, and no listings. When it accepts connections, one line with its URL goes to standard output; a socket that systemd hands over is taken instead of `--listen`.",
      "Alone it makes no requests: what is stored is served however old, what is not is 404. With `--pull` it is asked for what is missing or stale, as `get` would ask and under the same policy, once however many clients wait; an item by a name that nothing here knows is looked up in the lists of the segments as they are now: by `https`, or by `http` where an exception allows that for the host. Of what a client sends a server hears only what its answers depend on (`Vary`), and never credentials. Where no answer comes that is 502, a refusal passes with its status, and what a rule defers is 503; for the first, for 5xx and for what is deferred the older copy stands in where `--max-stale` or `cache.max_stale` allows one. That a server does not have it is 404 or 410, and believed for `cache.negative_ttl`, or for less where the answer says so, unless the client says `no-cache`.",
      "Clients may send `Cache-Control` with `no-cache`, `max-age`, `min-fresh`, `max-stale` and `only-if-cached`; what cannot be had that way is 504. `Age` and `Cache-Status` tell what became of a request. Bodies are hashed before or while they go out: one that is damaged is fetched again or breaks off, and is never sent as whole.",
      "SIGTERM ends it within two seconds. Requests with a foreign `Host` or `Origin`, or with `Sec-Fetch-Site: cross-site`, are refused, so that no web page can reach it but those of `--allow-origin`. Any page without a server of its own has the origin `null`, so that those have to show a token as well: the first line of `--token-file`, of 16 characters or more, as `/-/t/TOKEN/` before the path. The hooks `serve.started` and `serve.stopped` of the configuration get its URL.",
      "With `--events-in` a page or a program may POST a JSON object of at most 4 KiB to `/-/event`. It shows the token as `Authorization: Bearer TOKEN` or before the path. `{\"action\": \"log\", \"name\": \"NAME\"}` records what `event log NAME` records, and so do `start` and `stop`. `{\"action\": \"consume\", \"item\": \"ITEM\", \"from\": 0, \"to\": 1200, \"length\": 5400, \"at\": \"TIME\"}` records what `event consume` records; all but `item` may be missing or `null`. The answer is 200 with what was recorded, 400 for what cannot be read, 403 without the token, 404 for an unknown item or an event that is not open, 413 for more than 4 KiB.",
    ],
    options: [
      .flag("pull", \.pulls).help("Fetch what is not stored, or no longer fresh"),
      .optionalValue("max-stale", \.maximumStaleness, .duration)
        .help(
          "With `--pull`: when a server cannot be asked, serve a copy that expired at most this long ago, or at any time"
        ),
      .value("origin", \.origin, .directory).help("Serve this folder and nothing else"),
      .value("base-url", \.base, .baseURL)
        .help("Serve what lies below this URL at `/`, for tools that know one server alone"),
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
          "`--max-stale` needs `--pull`: nobody is asked else"
        )
      }
      return diagnostics
    },
    makeCommand: { ServeCommand(context: $0, options: $1) }
  )
}

extension ValueKind where Value == String {
  /// As browsers write it.
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
