import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchSystem
import PrefetchTransfer

struct PinsCommand: Command {
  let context: CommandContext
  let options: PinsOptions

  func run() throws(CommandExit) -> Int32 {
    try context.prepareTransfers()
    guard let url = options.host?.url else {
      throw context.failed(.usage, "usage.missing-operand", "`pins` needs a host")
    }
    let loaded = try context.configuration(isRequired: false)
    try context.requireTrustFiles(loaded)
    let builder = context.builder(loaded)
    do throws(Failure) {
      let chain = try CertificateProbe.chain(of: url, settings: builder.transportSettings())
      print(chain, of: url)
      return ExitStatus.ok.code
    } catch {
      let status: ExitStatus =
        switch error.code.category {
        case .trust: .trust
        case .connectivity: .unavailable
        case .io: .io
        case .denied: .denied
        case .content: .failed
        }
      throw context.failed(status, "pins.\(error.code.rawValue)", error.message)
    }
  }

  private func print(_ chain: [CertificateFacts], of url: WebURL) {
    let certificates = chain.map { certificate -> JSONValue in
      [
        "subject": .string(certificate.subject),
        "expires": .optional(certificate.expires.map { Timestamp.format($0) }),
        "pin": .string(pin(certificate)),
      ]
    }
    context.console.print(
      [
        "schema": "prefetch-pins/1",
        "host": .string(url.host),
        "port": .integer(Int64(url.port)),
        "leaf": .array(chain.prefix(1).map { .string(pin($0)) }),
        "ca": .array(chain.dropFirst().map { .string(pin($0)) }),
        "certificates": .array(certificates),
      ],
      orLines: text(chain, of: url)
    )
  }

  private func text(_ chain: [CertificateFacts], of url: WebURL) -> [String] {
    let host = url.host.hasPrefix("[") ? "\"\(url.host)\"" : url.host
    var lines = ["tls:", "  pins:", "    \(host):", "      leaf:"]
    lines += chain.prefix(1).map(line)
    guard chain.count > 1 else { return lines }
    lines.append("      # Where both lists are given, both must match.")
    lines.append("      ca:")
    return lines + chain.dropFirst().map(line)
  }

  private func line(_ certificate: CertificateFacts) -> String {
    let day = certificate.expires.map { ", until \(Timestamp.format($0).prefix(10))" } ?? ""
    return "        - \(pin(certificate)) # \(SafeText.line(certificate.subject))\(day)"
  }

  private func pin(_ certificate: CertificateFacts) -> String {
    Base64.encode(certificate.key.bytes)
  }
}
