import PrefetchCore
import PrefetchDocuments
import Testing

/// A network namespace for the processes in it.
enum NetworkNamespace {
  static let isPossible: Bool = {
    guard Tool.isInstalled("ip"), Tool.isInstalled("unshare"), Tool.isInstalled("python3"),
      let home = try? Home(isInMemory: true, binary: "/bin/true")
    else { return false }
    let probe =
      "unshare -nm bash -c 'ip link set lo up && ip addr add 203.0.113.1/32 dev lo"
      + " && mount --bind /dev/null /etc/hosts'"
    return (try? home.shell(probe))?.status == 0
  }()
}

/// Servers with public and with local addresses, in a network of this test's own.
@Suite(
  "A server with a public address",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: NetworkNamespace.isPossible, "needs python3, ip, and leave to make namespaces")
)
struct PublicAddressTests {
  struct RedirectCase: Sendable, CustomTestStringConvertible {
    var location: String
    var code: String?
    var status: Int32
    /// Server that the program may connect to in addition to the first one.
    var reached: String?
    /// Whether the configuration also names the host.
    var isNamed = false

    var testDescription: String {
      location + (isNamed ? ", which the configuration names" : "")
    }
  }

  static let cases = [
    RedirectCase(location: "http://203.0.113.2:9000/x", status: 0, reached: "203.0.113.2"),
    RedirectCase(location: "https://127.0.0.1:9000/x", code: "address_forbidden", status: 5),
    RedirectCase(location: "https://10.1.2.3:9000/x", code: "address_forbidden", status: 5),
    RedirectCase(location: "https://169.254.7.7:9000/x", code: "address_forbidden", status: 5),
    RedirectCase(location: "https://[::1]:9000/x", code: "address_forbidden", status: 5),
    RedirectCase(
      location: "https://[::ffff:127.0.0.1]:9000/x",
      code: "address_forbidden",
      status: 5
    ),
    RedirectCase(location: "https://[::ffff:a01:203]:9000/x", code: "address_forbidden", status: 5),
    RedirectCase(location: "https://localhost:9000/x", code: "address_forbidden", status: 5),
    RedirectCase(location: "https://inside.example:9000/x", code: "address_forbidden", status: 5),
    RedirectCase(location: "http://127.0.0.1:9000/x", code: "transport_security", status: 5),
    RedirectCase(location: "http://inside.example:9000/x", code: "transport_security", status: 5),
    // No server there speaks TLS, but the connection was permitted.
    RedirectCase(
      location: "https://10.1.2.3:9000/x",
      status: 4,
      reached: "10.1.2.3",
      isNamed: true
    ),
  ]

  @Test(
    "A server with a public address cannot redirect to an address of this machine or its networks"
  )
  func redirects() throws {
    let home = try Home()
    home.write(Self.server, to: "server.py")
    home.write("127.0.0.1 localhost\n10.1.2.3 inside.example\n", to: "hosts")
    for (number, row) in Self.cases.enumerated() {
      configure(home, "urls: [http://203.0.113.1:8080/\(number)]", row.isNamed, number)
    }
    home.write(Self.cases.map(\.location).joined(separator: "\n"), to: "locations")
    let last = Self.cases.count
    configure(home, "manifest: \"http://203.0.113.1:8080/manifest.json\"", false, last)
    let run = try home.shell(Self.script(upTo: last))
    try #require(run.status == 0, "\(run)")
    for (number, row) in Self.cases.enumerated() {
      let (status, report, reached) = try outcome(home, number)
      #expect(status == row.status, "\(row.testDescription): \(report)")
      let code = report.text("items.0.error.code")
      if let expected = row.code { #expect(code == expected, "\(row.testDescription)") }
      if row.isNamed { #expect(code != "address_forbidden") }
      #expect(reached == [row.reached].compactMap(\.self), "\(row.testDescription)")
    }
    // A manifest's URLs are restricted in the same way.
    let (status, report, reached) = try outcome(home, last)
    #expect(status == 5)
    #expect(
      report.list("items").map { $0.text("error.code") } == [
        "address_forbidden", "address_forbidden",
      ]
    )
    #expect(reached.isEmpty)
  }

  private func configure(_ home: Home, _ source: String, _ isNamed: Bool, _ number: Int) {
    home.write(
      """
      transport_security:
        NSExceptionDomains:
          203.0.113.1: { NSExceptionAllowsInsecureHTTPLoads: true }
          203.0.113.2: { NSExceptionAllowsInsecureHTTPLoads: true }
          \(isNamed ? "10.1.2.3: {}" : "")
      segments: [{ name: s, \(source) }]
      network: { retries: { items: 0, lookups: 0 }, timeouts: { connect: 3s, read: 3s } }

      """,
      to: "\(number).yaml"
    )
  }

  /// Returns the exit status, the report and the other addresses connected to.
  private func outcome(
    _ home: Home,
    _ number: Int
  ) throws -> (status: Int32, report: Node, reached: [String]) {
    let status = try #require(home.read("\(number).status")).split(separator: "\n").first ?? ""
    let report = try Node(json: try #require(home.read("\(number).json")))
    let log = home.read("\(number).log") ?? ""
    let reached = log.split(separator: "\n").map(String.init).filter { $0 != "203.0.113.1" }
    return (Int32(status) ?? -1, report, Set(reached).sorted())
  }

  private static func script(upTo last: Int) -> String {
    """
    cat > inside <<'END'
    set -e
    ip link set lo up
    for address in 203.0.113.1 203.0.113.2 10.1.2.3 169.254.7.7; do
      ip addr add $address/32 dev lo
    done
    mount --bind hosts /etc/hosts
    mkfifo ready
    python3 server.py > ready &
    server=$!
    trap 'kill $server' EXIT
    read -r line < ready
    for number in $(seq 0 \(last)); do
      : > log
      status=0
      "$prefetch" -c $number.yaml --json --items all --cache-dir cache-$number \
        > $number.json 2> $number.errors || status=$?
      echo $status > $number.status
      cp log $number.log
    done
    END
    unshare -nm bash inside
    """
  }

  /// Server that logs the target address of each connection; the first address redirects.
  private static let server = """
    import socket, threading

    locations = open("locations").read().split("\\n")
    manifest = '{"format": "prefetch-manifest", "version": 1, "items": [' \\
        '{"url": "https://10.1.2.3:9000/a"}, {"url": "https://inside.example:9000/a"}]}'

    def answer(path):
        if path == "/manifest.json":
            return "200 OK", "", manifest
        if path[1:].isdigit():
            return "302 Found", "Location: " + locations[int(path[1:])] + "\\r\\n", ""
        return "200 OK", "", "end"

    def serve(listener, address):
        while True:
            connection, _ = listener.accept()
            with open("log", "a") as log:
                log.write(address + "\\n")
            words = connection.recv(65536).decode("latin-1").split(" ")
            if words[0] == "GET":
                status, header, body = answer(words[1])
                connection.sendall(("HTTP/1.1 %s\\r\\n%sContent-Length: %d\\r\\nConnection: close"
                    "\\r\\n\\r\\n%s" % (status, header, len(body), body)).encode())
            connection.close()

    def listen(address, port, family=socket.AF_INET):
        listener = socket.socket(family)
        listener.bind((address, port))
        listener.listen()
        threading.Thread(target=serve, args=(listener, address), daemon=True).start()

    listen("203.0.113.1", 8080)
    for address in ["203.0.113.2", "127.0.0.1", "10.1.2.3", "169.254.7.7"]:
        listen(address, 9000)
    listen("::1", 9000, socket.AF_INET6)
    print("ready", flush=True)
    threading.Event().wait()
    """
}
