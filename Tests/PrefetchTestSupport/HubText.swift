internal import PrefetchCore
internal import PrefetchCrypto

/// Documents of a repository as the API of a hub writes them.
package enum HubText {
  package struct File: Sendable {
    package var path: String
    package var body: [UInt8]
    /// Whether the hub stores the file as a large one, which it names by SHA-256.
    package var isLarge: Bool

    package init(_ path: String, _ body: [UInt8], isLarge: Bool = false) {
      self.path = path
      self.body = body
      self.isLarge = isLarge
    }

    package init(_ path: String, _ text: String, isLarge: Bool = false) {
      self.init(path, Array(text.utf8), isLarge: isLarge)
    }

    package var digest: String { SHA256.digest(of: body).hexadecimal }

    /// Name of the git blob; of a large file that of its pointer.
    package var blob: String { HubText.name("blob \(isLarge) \(digest)") }

    /// Name of the body in the cache of the hub's tools.
    package var cacheName: String { isLarge ? digest : blob }
  }

  /// Returns a name with the form of git's, made of a text.
  package static func name(_ text: String) -> String {
    String(SHA256.digest(of: Array(text.utf8)).hexadecimal.prefix(40))
  }

  package static func commit(of files: [File]) -> String {
    name("commit " + files.map { "\($0.path) \($0.digest)" }.joined(separator: " "))
  }

  /// Returns the answer to a request for a revision, with counts that change each time.
  package static func revision(
    _ name: String,
    _ commit: String,
    _ files: [File],
    views: Int = 1
  ) -> String {
    let siblings = files.map { "{\"rfilename\": \"\($0.path)\"}" }.joined(separator: ", ")
    return """
      {"_id": "65", "id": "\(name)", "modelId": "\(name)", "private": false, "gated": false,
       "sha": "\(commit)", "lastModified": "2026-03-01T10:00:00.000Z", "downloads": \(views),
       "likes": 2, "tags": ["safetensors"], "siblings": [\(siblings)]}
      """
  }

  /// Returns a page of the files of a commit.
  package static func tree(_ files: [File]) -> String {
    let folders = Set(files.compactMap { $0.path.split(separator: "/").dropLast().first })
    let nodes =
      folders.sorted().map { folder in
        "{\"type\": \"directory\", \"oid\": \"\(name(String(folder)))\", \"size\": 0, \"path\": \"\(folder)\"}"
      }
      + files.map { file in
        let lfs =
          file.isLarge
          ? ", \"lfs\": {\"oid\": \"\(file.digest)\", \"size\": \(file.body.count), \"pointerSize\": 133}"
          : ""
        return "{\"type\": \"file\", \"oid\": \"\(file.blob)\", \"size\": \(file.body.count)"
          + "\(lfs), \"path\": \"\(file.path)\"}"
      }
    return "[" + nodes.joined(separator: ",\n ") + "]"
  }
}
