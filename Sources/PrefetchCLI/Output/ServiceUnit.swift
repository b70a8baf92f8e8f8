import PrefetchCore

struct ServiceUnit {
  var name: String
  var command: [String]
  var title: String
  /// Writable folders other than those that systemd makes.
  var writable: [String]
  var credentials: [String]
  /// Whether systemd makes the folder of the cache, and that of the state.
  var makesCache = true
  var makesState = true
  /// Whether other users read the cache.
  var sharesCache = false
  var looksIntoHomes = false
  var looksIntoTemporary = false
  var times: String?
  /// User of the service; nil for one that systemd makes up.
  var owner: String?
  var missing: [String] = []
  /// Cache and state, unless systemd makes them.
  var own: Set<String> = []

  var service: String {
    """
    [Unit]
    Description=Prefetch of \(Self.unitText(title))
    Wants=network-online.target
    After=network-online.target\(mounts)

    [Service]
    Type=oneshot
    ExecStart=\(command.map(Self.quoted).joined(separator: " "))
    # Waiting (75) and a stop (143) are not failures.
    SuccessExitStatus=75 143
    Nice=10
    IOSchedulingClass=idle
    \(confinement)

    """
  }

  var server: String {
    """
    [Unit]
    Description=Server over the prefetch of \(Self.unitText(title))
    Wants=network-online.target
    After=network-online.target\(mounts)

    [Service]
    Type=exec
    ExecStart=\(command.map(Self.quoted).joined(separator: " "))
    # A stop (143) is not a failure.
    SuccessExitStatus=143
    Restart=on-failure
    \(confinement)

    [Install]
    WantedBy=multi-user.target

    """
  }

  /// Lines that wait for the disks of the folders, and fail without them.
  private var mounts: String {
    writable.map { "\nRequiresMountsFor=\(Self.quoted($0))" }.joined()
  }

  private var confinement: String {
    let folders =
      (makesCache
        ? ["CacheDirectory=\(name)", "CacheDirectoryMode=\(sharesCache ? "0755" : "0700")"] : [])
      + (makesState ? ["StateDirectory=\(name)", "StateDirectoryMode=0700"] : [])
      + writable.map { "ReadWritePaths=\(Self.quoted($0))" }
      + credentials.map { "LoadCredential=\($0):/etc/\(name)/credentials/\($0)" }
    return """
      \(owner == nil ? "DynamicUser=yes\n" : "")User=\(owner ?? user)
      \(folders.joined(separator: "\n"))
      UMask=0022
      ProtectSystem=strict
      ProtectHome=\(looksIntoHomes ? "read-only" : "yes")
      PrivateTmp=\(looksIntoTemporary ? "no" : "yes")
      \(Self.hardening.joined(separator: "\n"))
      """
  }

  /// Name of the dynamic user; units that share it share its folders.
  private var user: String {
    guard name.utf8.count > Self.longestUser else { return name }
    var hash = StableHash()
    hash.combine(name)
    let mark = String(hash.value % 0x1_0000_0000, radix: 16)
    return "\(name.prefix(Self.longestUser - 9))-\(mark)"
  }

  private static let longestUser = 31

  var timer: String {
    """
    [Unit]
    Description=Times of the prefetch of \(Self.unitText(title))

    [Timer]
    OnCalendar=\(times ?? "*-*-* 03:00:00")
    # Many machines do not ask at once, and one that was off catches up.
    RandomizedDelaySec=30min
    Persistent=true

    [Install]
    WantedBy=timers.target

    """
  }

  /// Returns the line; `minute` is fixed for a configuration and differs between them.
  func crontab(minute: Int) -> String {
    let words = command.map { word in
      // To cron a percent sign ends the line.
      Self.shellQuoted(word).split(separator: "%", omittingEmptySubsequences: false)
        .joined(separator: "\\%")
    }
    let fields = [times ?? "\(minute) 3 * * *", owner].compactMap(\.self) + words
    return fields.joined(separator: " ")
  }

  private static let hardening = [
    "NoNewPrivileges=yes", "PrivateDevices=yes", "DevicePolicy=closed",
    "ProtectClock=yes", "ProtectControlGroups=yes", "ProtectHostname=yes",
    "ProtectKernelLogs=yes", "ProtectKernelModules=yes", "ProtectKernelTunables=yes",
    "ProtectProc=invisible", "ProcSubset=pid", "RemoveIPC=yes", "KeyringMode=private",
    "LockPersonality=yes", "MemoryDenyWriteExecute=yes", "RestrictNamespaces=yes",
    "RestrictRealtime=yes", "RestrictSUIDSGID=yes",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", "CapabilityBoundingSet=",
    "SystemCallArchitectures=native", "SystemCallFilter=@system-service",
    "SystemCallFilter=~@privileged @resources",
    // Exempts from the second filter the calls for `IOSchedulingClass=` and a lower priority.
    "SystemCallErrorNumber=EPERM",
  ]

  static func quoted(_ word: String) -> String {
    var text = ""
    for scalar in word.unicodeScalars {
      switch scalar {
      case "%": text += "%%"
      case "$": text += "$$"
      case "\\", "\"": text += "\\" + String(scalar)
      default: text.unicodeScalars.append(scalar)
      }
    }
    let needsNoQuotes =
      text == word && !word.isEmpty && !word.contains { $0 == " " || $0 == "'" || $0 == ";" }
    return needsNoQuotes ? word : "\"\(text)\""
  }

  private static func unitText(_ text: String) -> String {
    SafeText.line(text).split(separator: "%", omittingEmptySubsequences: false)
      .joined(separator: "%%")
  }

  static func shellQuoted(_ word: String) -> String {
    let needsNoQuotes =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        ASCII.isDigit(byte) || (0x61...0x7A).contains(byte | 0x20)
          || "/._-=:,+@".utf8.contains(byte)
      }
    guard !needsNoQuotes else { return word }
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}
