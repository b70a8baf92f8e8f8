import Glibc
import PrefetchCore
import PrefetchSystem
import PrefetchTestSupport
import Testing

/// A machine made of files.
private struct Machine {
  let folder: TemporaryDirectory

  init(_ files: [String: String]) throws {
    folder = try TemporaryDirectory()
    for (path, text) in files { try write(text, to: path) }
  }

  var root: String { folder.path }

  func write(_ text: String, to path: String, mode: mode_t = 0o644) throws {
    var made = root
    for part in path.split(separator: "/").dropLast() {
      made += "/\(part)"
      unsafe mkdir(made, 0o755)
    }
    try AtomicFile.write(Array(text.utf8), to: root + path)
    try #require(unsafe chmod(root + path, mode) == 0)
  }
}

@Suite struct NetworkInterfacesTests {
  private static let header =
    "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
  private static let routes =
    header
    + "wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
    + "eth0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
    + "eth0\t0000A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"

  private static func route(over interface: String) -> String {
    header + "\(interface)\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
  }

  @Test("The default route with the lowest metric decides")
  func lowestMetric() throws {
    let machine = try Machine([
      "/proc/net/route": Self.routes, "/sys/class/net/eth0/device/x": "",
      "/sys/class/net/wlan0/wireless/x": "",
    ])
    let finding = NetworkInterfaces(root: machine.root).look()
    #expect(finding.interface == "eth0" && finding.type == .ethernet)
  }

  @Test(
    "Kinds of interfaces are recognised",
    arguments: [
      ("wlan0", ["wireless/x": ""], .wifi), ("wlp3s0", ["phy80211/x": ""], .wifi),
      ("wl", ["uevent": "DEVTYPE=wlan\nINTERFACE=wl\n"], .wifi),
      ("wwan0", ["device/x": ""], .cellular),
      ("usb0", ["uevent": "DEVTYPE=wwan\n", "device/x": ""], .cellular),
      ("rmnet", ["type": "519\n"], .cellular),
      ("eth0", ["device/x": "", "type": "1\n"], .ethernet),
      // The network below the tunnel is unknown.
      ("tun0", ["type": "65534\n"], .ethernet),
    ] as [(String, [String: String], NetworkType)]
  )
  func kinds(name: String, files: [String: String], type: NetworkType) throws {
    var all = ["/proc/net/route": Self.route(over: name)]
    for (path, text) in files { all["/sys/class/net/\(name)/\(path)"] = text }
    let machine = try Machine(all)
    let finding = NetworkInterfaces(root: machine.root).look()
    #expect(finding.type == type)
    #expect(finding.reason.contains("`\(name)`"))
  }

  @Test("A bridge, a bond and a virtual network have the kind of their lower interface")
  func stacked() throws {
    let below = ["/sys/class/net/wlan0/wireless/x": ""]
    let stacks = [
      ["/sys/class/net/br0/brif/wlan0/x": ""],
      ["/sys/class/net/br0/bonding/slaves": "wlan0\n"],
      ["/sys/class/net/br0/lower_wlan0/x": ""],
    ]
    for stack in stacks {
      let files = stack.merging(below) { $1 }
      let machine = try Machine(files.merging(["/proc/net/route": Self.route(over: "br0")]) { $1 })
      let finding = NetworkInterfaces(root: machine.root).look()
      #expect(finding.type == .wifi && finding.reason.contains("`wlan0`"))
    }
  }

  @Test("Without a default route the network is unknown, and IPv6 alone is one")
  func none() throws {
    let without = try Machine([
      "/proc/net/route": Self.header,
      "/proc/net/ipv6_route": String(repeating: "0", count: 32) + " 00 "
        + String(repeating: "0", count: 32) + " 00 " + String(repeating: "0", count: 32)
        + " ffffffff 00000001 00000000 00200200       lo\n",
    ])
    let finding = NetworkInterfaces(root: without.root).look()
    #expect(finding.type == nil && finding.reason == "no default route")
    #expect(NetworkInterfaces(root: "/nowhere").look().type == nil)
    #expect(!NetworkInterfaces(root: without.root).leadsOut)
    let zeros = String(repeating: "0", count: 32)
    try without.write(
      "\(zeros) 00 \(zeros) 00 fe800000000000000000000000000001 00000400 1 0 00000003    wlan0\n",
      to: "/proc/net/ipv6_route"
    )
    try without.write("", to: "/sys/class/net/wlan0/wireless/x")
    #expect(NetworkInterfaces(root: without.root).look().type == .wifi)
    #expect(NetworkInterfaces(root: without.root).leadsOut)
  }

  @Test("A route leads out only over an interface that is up")
  func leadsOut() throws {
    let route = Self.header + "docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
    let local = "fe80000000000000 40 0 0 0 00000100 1 0 00000001 docker0\n"
    for (state, expected) in [("down\n", false), ("up\n", true), ("unknown\n", true)] {
      let machine = try Machine([
        "/proc/net/route": route, "/proc/net/ipv6_route": local,
        "/sys/class/net/docker0/operstate": state,
      ])
      #expect(NetworkInterfaces(root: machine.root).leadsOut == expected)
      #expect(NetworkInterfaces(root: machine.root).look().type == nil)
    }
    let bare = try Machine(["/proc/net/route": Self.header, "/proc/net/ipv6_route": local])
    #expect(!NetworkInterfaces(root: bare.root).leadsOut)
  }
}

@Suite struct PowerSuppliesTests {
  @Test(
    "Mains and batteries are read",
    arguments: [
      ([:], true, nil),
      (
        ["BAT0/type": "Battery", "BAT0/capacity": "40", "AC/type": "Mains", "AC/online": "0"],
        false, 40
      ),
      (
        ["BAT0/type": "Battery", "BAT0/capacity": "40", "AC/type": "Mains", "AC/online": "1"],
        true, 40
      ),
      (["BAT0/type": "Battery", "BAT0/status": "Discharging", "BAT0/capacity": "7"], false, 7),
      (["BAT0/type": "Battery", "BAT0/status": "Full"], true, nil),
      (["BAT0/type": "Battery", "BAT0/status": "Unknown"], nil, nil),
      (
        [
          "BAT0/type": "Battery", "BAT0/capacity": "20", "BAT1/type": "Battery",
          "BAT1/capacity": "40", "U/type": "USB", "U/online": "1",
        ], true, 30
      ),
      (
        ["mouse/type": "Battery", "mouse/scope": "Device", "mouse/status": "Discharging"], true, nil
      ),
    ] as [([String: String], Bool?, Int?)]
  )
  func supplies(files: [String: String], isOnMains: Bool?, charge: Int?) throws {
    let paths = files.map { ("/sys/class/power_supply/\($0.key)", "\($0.value)\n") }
    let machine = try Machine(Dictionary(uniqueKeysWithValues: paths))
    let power = PowerSupplies(root: machine.root).look()
    #expect(power.isOnMains == isOnMains)
    #expect(power.charge == charge)
  }
}

@Suite struct ChildProcessTests {
  private let environment = ["PATH": "/usr/bin:/bin", "WORD": "a b"]

  private func output(
    _ script: String,
    within limit: Duration = .seconds(30)
  ) throws(ChildProcess.Fault) -> String {
    try ChildProcess.output(["/bin/sh", "-c", script], environment: environment, within: limit)
  }

  @Test("The output of a probe is its answer, and its errors are discarded")
  func prints() throws {
    #expect(try output("echo \"$WORD\"; echo no >&2") == "a b\n")
    #expect(try output("cat") == "")
    #expect(
      try ChildProcess.output(["/bin/echo", "a  b; $WORD"], environment: [:], within: .seconds(30))
        == "a  b; $WORD\n"
    )
  }

  @Test("Every other end of a probe is distinguished")
  func ends() {
    #expect(throws: ChildProcess.Fault.ended(status: 3)) { try output("echo x; exit 3") }
    #expect(throws: ChildProcess.Fault.killed(signal: SIGTERM)) { try output("kill $$") }
    #expect(throws: ChildProcess.Fault.tooLong) { try output("yes") }
    #expect(throws: ChildProcess.Fault.self) {
      try ChildProcess.output(["/nowhere"], environment: [:], within: .seconds(30))
    }
    #expect(throws: ChildProcess.Fault.self) {
      try ChildProcess.output([], environment: [:], within: .seconds(30))
    }
  }

  @Test("A slow probe is ended with all its processes")
  func slow() throws {
    let folder = try TemporaryDirectory()
    #expect(throws: ChildProcess.Fault.tooSlow) {
      try output("sleep 300 & echo $! > \(folder.path)/child; wait", within: .milliseconds(300))
    }
    guard let bytes = try? FileReading.read("\(folder.path)/child", limit: 100) else { return }
    let child = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first
    let process = try #require(child.flatMap { pid_t($0) })
    // The signal was sent, but takes effect only when the kernel delivers it.
    let deadline = ContinuousClock.now + .seconds(30)
    while isRunning(process), ContinuousClock.now < deadline { usleep(1_000) }
    #expect(!isRunning(process))
  }

  /// A zombie process does not count as running.
  private func isRunning(_ process: pid_t) -> Bool {
    guard let status = try? FileReading.read("/proc/\(process)/stat", limit: 4096) else {
      return false
    }
    let text = String(decoding: status, as: UTF8.self)
    let state = text.split(separator: ")").last?.split(separator: " ").first
    return state != "Z" && state != "X"
  }
}

@Suite struct MeteredNetworkTests {
  @Test(
    "The network manager's numbers and words are read",
    arguments: [
      ("busctl", "u 1", true), ("busctl", "u 2", false), ("busctl", "u 3", true),
      ("busctl", "u 4", false), ("busctl", "u 0", nil),
      ("nmcli", "GENERAL.METERED:yes (guessed)", true), ("nmcli", "GENERAL.METERED:no", false),
      ("nmcli", "GENERAL.METERED:unknown", nil), ("nmcli", "Error", nil),
    ] as [(String, String, Bool?)]
  )
  func outputs(program: String, output: String, isMetered: Bool?) throws {
    let machine = try Machine([:])
    try machine.write("#!/bin/sh\necho '\(output)'\n", to: "/\(program)", mode: 0o755)
    let finding = MeteredNetwork(variables: ["PATH": machine.root]).look()
    #expect(finding.isMetered == isMetered)
    #expect(!finding.reason.isEmpty)
  }

  @Test(
    "Without a network manager the answer is unknown, and the second is used when the first fails"
  )
  func missing() throws {
    let machine = try Machine([:])
    #expect(MeteredNetwork(variables: ["PATH": machine.root]).look().isMetered == nil)
    try machine.write("#!/bin/sh\nexit 1\n", to: "/busctl", mode: 0o755)
    try machine.write("#!/bin/sh\necho GENERAL.METERED:yes\n", to: "/nmcli", mode: 0o755)
    #expect(MeteredNetwork(variables: ["PATH": machine.root]).look().isMetered == true)
  }
}

@Suite struct NetworkProbeTests {
  @Test("Words of a probe are read")
  func words() throws {
    let all = try #require(NetworkProbe.read("wifi,metered battery, 40%\n"))
    #expect(all.type == .wifi && all.isMetered == true)
    #expect(all.power.isOnMains == false && all.power.charge == 40)
    let minimal = try #require(NetworkProbe.read("Ethernet\n"))
    #expect(minimal.type == .ethernet && minimal.isMetered == nil && minimal.power.isOnMains == nil)
    let open = try #require(NetworkProbe.read("unknown unmetered ac"))
    #expect(open.type == nil && open.isMetered == false && open.power.isOnMains == true)
    for text in ["", " \n", "token-ring", "wifi,expensive", "101%", "x%"] {
      #expect(NetworkProbe.read(text) == nil, "\(text)")
    }
  }
}
