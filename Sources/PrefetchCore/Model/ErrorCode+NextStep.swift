extension ErrorCode {
  /// User's next step after a failure of this code, in one line without a full stop.
  package var nextStep: String {
    switch self {
    case .noNetwork: "connect this machine to a network, and run it again"
    case .dns: "check the name of the host, and the name server of this machine"
    case .connect: "check that the server is up and reachable from this machine"
    case .tls: "check the TLS version of the server; one without TLS needs `http:` and `allow_http`"
    case .timeout, .stalled: "run it again, or raise `network.timeouts`"
    case .reset, .truncated: "run it again; parts that are kept are continued"
    case .serverBusy: "run it again later"
    case .transportSecurity: "use https, or allow the host under `allow_http`"
    case .certificate:
      "check the certificate of the server; a private authority goes into `tls.ca_file`"
    case .pinMismatch: "compare the key with `prefetch pins HOST`, and correct `tls.pins`"
    case .digestMismatch: "ask the publisher whether the list or the file is wrong"
    case .signature: "check `manifest_keys`, and who signed the list"
    case .rollback: "`--allow rollback` accepts the older list once"
    case .redirectForbidden: "allow it under `redirects`, or list the target's URL"
    case .addressForbidden: "name the host in the configuration if it may be in a local network"
    case .hostForbidden: "add the host to `hosts` if lists may name it"
    case .unsafeName: "give the item another name with `path`"
    case .diskFull: "free space on the disk"
    case .disk: "check the disk and how it is mounted"
    case .permission:
      "run it as the owner of the folder, or let this user in; mount the disk if one belongs there"
    case .storeDamaged:
      "`prefetch verify --repair` removes what is damaged, and the next run fetches it"
    case .locked: "wait for the other process with `--wait`"
    case .licenseRefused: "check `license`; `prefetch register` tries again at once"
    case .bundleMismatch: "check `bundle_id`: it must be that of the list or the license"
    case .credentialsRefused:
      "check the credentials in `headers`, `transport.rules` or `network.netrc`"
    case .http: "check the URL, and why the server refuses it"
    case .gone: "remove it from the list, or set `on_gone: remove`"
    case .badName: "give the item a name with `path`"
    case .nameCollision: "give the items different names with `path`"
    case .badURL: "correct the URL in the list"
    case .badResponse: "report it to the operator of the server"
    case .unexpectedContent: "check the URL, and what is declared of the content"
    case .corrupted: "compare the declared size with the file on the server"
    case .tooLarge: "raise `max_file_size`, or leave the item out with `exclude`"
    case .cacheFull: "raise `cache.size`, or leave items out with `exclude`"
    case .redirectLimit: "list the URL at the end of the redirects"
    case .redirected: "set `redirects.follow: true`, or list the target's URL"
    case .manifestInvalid: "correct the list; `prefetch manifest check` names its faults"
    case .manifestGuard: "check the list; `--allow` accepts a change once"
    case .notInManifest: "check the list of the segment for the item"
    case .leftOut: "list what is missing in a segment with `urls`, or leave out `strict`"
    case .notFound: "run `prefetch run`, which fetches it"
    case .empty: "check the file on the server"
    case .drm: "leave the stream out with `exclude`: no copy of it can be played"
    case .live: "set `live: snapshot` to keep what there is now"
    case .unsupported: "convert the file, or leave it out with `exclude`"
    case .cancelled: "run it again"
    case .failed, .internal: "run it again with `-v`; `prefetch log` keeps what was said"
    }
  }
}
