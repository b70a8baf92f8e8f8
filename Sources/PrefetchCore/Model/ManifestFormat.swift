package enum ManifestFormat: String, Hashable, Sendable, CaseIterable {
  case native
  case ndjson
  case list
  case checksums
  case hls
  case vast
  case packageLock = "package-lock"
  case json
  case metalink
  case sitemap
  case rss
  case atom
  case pylock
  case pip
  case goSum = "go-sum"
  case cargoLock = "cargo-lock"
  case uvLock = "uv-lock"
  case yarnLock = "yarn-lock"
  case pnpmLock = "pnpm-lock"
  case bazelLock = "bazel-lock"
  case lockfile
  case releases
  case hf
}
