package import PrefetchCore

extension LoadedConfiguration {
  /// Reports missing and unreadable files; `isReadable` gets a path and whether a folder is expected.
  package func trustFileDiagnostics(
    isReadable: (String, Bool) -> Bool,
    isPEM: (String) -> Bool = { _ in true }
  ) -> [Diagnostic] {
    let tls = ValuePath([.key("tls")])
    var files: [(path: String?, isFolder: Bool, location: ValuePath)] = [
      (configuration.settings.caFile, false, tls.appending(.key("ca_file"))),
      (configuration.settings.caDirectory, true, tls.appending(.key("ca_dir"))),
    ]
    for (host, client) in configuration.policy.connections.clients.sorted(by: { $0.key < $1.key }) {
      let location = tls.appending(.key("client")).appending(.key(host))
      files.append((client.certificate, false, location.appending(.key("certificate"))))
      files.append((client.key, false, location.appending(.key("key"))))
    }
    if let path = configuration.settings.caFile, isReadable(path, false), !isPEM(path) {
      return [
        diagnostic(
          "config.bad-certificate",
          "`\(path)` holds no certificate in PEM",
          hint: "convert it: `openssl x509 -inform der -in \(path) -out ca.pem`",
          at: tls.appending(.key("ca_file"))
        )
      ]
    }
    return files.compactMap { file in
      guard let path = file.path, !path.isEmpty, !isReadable(path, file.isFolder) else {
        return nil
      }
      return diagnostic(
        "config.unreadable-file",
        "`\(path)` is missing or cannot be read",
        hint: "`\(file.location.description)` names it",
        at: file.location
      )
    }
  }
}
