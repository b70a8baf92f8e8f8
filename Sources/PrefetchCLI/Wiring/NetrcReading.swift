import PrefetchConfig
import PrefetchCore
import PrefetchSystem

extension CommandContext {
  private static let limit = 1 << 20

  /// Returns the credentials of `~/.netrc`; nil unless the configuration reads that file.
  func netrc(_ configuration: Configuration) -> Netrc? {
    guard configuration.network.readsNetrc, let home = environment.homeDirectory else { return nil }
    let path = "\(home)/.netrc"
    do throws(FileReading.Fault) {
      let bytes = try FileReading.read(path, limit: Self.limit)
      warnOfReaders(path)
      let netrc = Netrc(String(decoding: bytes, as: UTF8.self))
      console.secrets += netrc.secrets
      return netrc
    } catch {
      console.reportNow(
        Diagnostic(
          "netrc.unreadable",
          "`network.netrc` is set, and `\(path)` \(error.reason)",
          severity: .warning,
          hint: "its credentials are not sent; make the file readable, or remove `network.netrc`"
        )
      )
      return nil
    }
  }

  private func warnOfReaders(_ path: String) {
    guard let bits = FileReading.permissionBits(path), bits & 0o044 != 0 else { return }
    console.reportNow(
      Diagnostic(
        "netrc.readable-secret",
        "`\(path)` holds passwords and can be read by other users",
        severity: .warning,
        hint: "remove their permission (`chmod 600`)"
      )
    )
  }
}
