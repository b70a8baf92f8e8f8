import PrefetchCore
import PrefetchCrypto
import PrefetchManifests
import PrefetchSystem

struct ManifestSign: Command {
  let context: CommandContext
  let options: ManifestSignOptions

  func run() throws(CommandExit) -> Int32 {
    let now = options.generated ?? Instant(seconds: context.clock.now().wall.seconds)
    let expires = options.expires.map { now + $0 }
    let key = try secretKey()
    let comment = TrustedComment(timestamp: now, file: fileName, expires: expires)
    let untrusted = options.comment ?? "signature from prefetch"
    let reading: Result<(Manifest, String), Failure>
    do throws(FileReading.Fault) {
      reading = try FileReading.withBytes(of: options.manifest, limit: ManifestFile.limit) {
        bytes in
        do throws(Failure) {
          let manifest = try ManifestReader.read(
            bytes,
            source: ManifestFile.source(options.manifest)
          )
          let text = Minisign.sign(
            bytes,
            with: key,
            trustedComment: comment,
            untrustedComment: untrusted
          )
          return .success((manifest, text))
        } catch {
          return .failure(error)
        }
      }
    } catch {
      throw context.failed(.io, "manifest.unreadable", "`\(options.manifest)` \(error.reason)")
    }
    switch reading {
    case .failure(let failure):
      throw context.failed(
        .config,
        "manifest.invalid",
        "`\(options.manifest)` was not signed, since no reader accepts it: \(failure.message)"
      )
    case .success((let manifest, let text)):
      warn(manifest, expires: expires, at: now)
      try write(text)
      return ExitStatus.ok.code
    }
  }

  private var fileName: String {
    options.manifest.split(separator: "/").last.map(String.init) ?? options.manifest
  }

  // MARK: The key

  private func secretKey() throws(CommandExit) -> MinisignSecretKey {
    guard let path = options.keys.first else {
      throw CommandExit(status: ExitStatus.usage.code)
    }
    let file: [UInt8]
    do throws(FileReading.Fault) {
      file = try FileReading.read(path, limit: 1 << 16)
    } catch {
      throw context.failed(.io, "manifest.key", "the key `\(path)` \(error.reason)")
    }
    do throws(MinisignSecretKey.Fault) {
      guard try MinisignSecretKey.isEncrypted(file) else {
        warnOfReaders(path)
        return try MinisignSecretKey(file)
      }
      return try MinisignSecretKey(file, password: try password(path))
    } catch {
      if let signal = StopSignals.pending { throw CommandExit(status: 128 + signal) }
      throw context.failed(.failed, "manifest.key", "the key `\(path)` cannot be used: \(error)")
    }
  }

  private func warnOfReaders(_ path: String) {
    guard let bits = FileReading.permissionBits(path), bits & 0o044 != 0 else { return }
    context.console.report(
      "manifest.key-readable",
      "the key `\(path)` has no password, and others can read it",
      severity: .warning,
      hint: "`chmod 600` it"
    )
  }

  private func password(_ key: String) throws(MinisignSecretKey.Fault) -> [UInt8] {
    if let path = options.passwordFile {
      do throws(FileReading.Fault) {
        let file =
          path == "-"
          ? try FileReading.readStandardInput(limit: 1 << 16)
          : try FileReading.read(path, limit: 1 << 16)
        return Array(file.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
      } catch {
        let message = "the password file `\(path)` \(error.reason)"
        context.console.report("manifest.password", message)
        throw .needsPassword
      }
    }
    do throws(TerminalPassword.Fault) {
      return try TerminalPassword.readPassword("Password of `\(SafeText.line(key))`: ")
    } catch {
      let hint = "give it with `--password-file FILE`"
      let message = "there is no terminal to ask for a password"
      if error == .noTerminal {
        context.console.report("manifest.password", message, hint: hint)
      }
      throw .needsPassword
    }
  }

  // MARK: What readers will ask for

  private func warn(_ manifest: Manifest, expires: Instant?, at now: Instant) {
    if let stated = manifest.expires ?? expires {
      guard stated <= now else { return }
      warn(
        "`\(options.manifest)` expired \(Timestamp.format(stated)); readers refuse it",
        hint: nil
      )
      return
    }
    warn(
      "neither `\(options.manifest)` nor its signature says when it expires, so readers with `manifest_keys` refuse it",
      hint: "sign with `--expires 7d`, or build the manifest with it"
    )
  }

  private func warn(_ message: String, hint: String?) {
    context.console.report("manifest.expires", message, severity: .warning, hint: hint)
  }

  private func write(_ text: String) throws(CommandExit) {
    do throws(Failure) {
      let path = "\(options.manifest).minisig"
      try AtomicFile.write(Array(text.utf8), to: path.hasPrefix("+") ? "./\(path)" : path)
    } catch {
      throw context.failed(.io, "manifest.write", error.message)
    }
  }
}

enum ManifestFile {
  static let limit = 512 << 20

  /// Returns a source with a placeholder base, since the place of publication is unknown.
  static func source(_ name: String, base: WebURL? = nil) -> ManifestSource {
    ManifestSource(
      bytes: .file(name),
      base: base ?? (try? WebURL("https://manifest.invalid/")),
      mime: nil,
      name: name
    )
  }
}
