import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import Testing

/// Which texts are masked as secrets.
struct SecrecyTests {
  @Test("A short word within a secret is not masked everywhere")
  func keepsShortWords() {
    let yaml = """
      segments: []
      transport:
        rules: [{match: "**", proxy: none, headers: {Authorization: "Bearer ${env:TOKEN:-none}"}}]
      """
    let loaded = load(yaml: yaml)
    #expect(loaded.rendered == "\n")
    #expect(loaded.canonical("network.timeouts.run") == .string("none"))
    #expect(loaded.canonical("transport.rules.0.headers.Authorization") == .string("***"))
    #expect(loaded.secrets == ["Bearer none"])
  }

  @Test("A secret in another value is masked there too")
  func hidesStrayed() {
    let loaded = load(
      yaml:
        "license: a-long-license\nsegments: [{name: a, urls: ['https://h.example/?k=a-long-license']}]"
    )
    #expect(loaded.canonical("segments.0.urls.0.url") == .string("***"))
  }

  @Test(
    "No message shows the line of a secret",
    arguments: [
      "license: [my-secret-key]\nsegments: []",
      "{license: my-secret-key, nope: 1, segments: []}",
      "licence: my-secret-key\nsegments: []",
      "api_key: my-secret-key\nlicense: my-secret-key\nsegments: []",
      "license: \"my-secret-key\nsegments: []",
      "license: my-secret-key\u{1}\nsegments: []",
      "network: {proxy: 'http://me:my-secret-key@proxy.example.com:99999', nope: 1}",
      "segments: [{name: a, urls: ['https://me:my-secret-key@h.example/']}]",
      "segments: [{name: a, urls: [], headers: {'X Y': my-secret-key, Authorization: \"my-secret-key\\n\"}}]",
    ]
  )
  func hidesLines(_ yaml: String) {
    let loaded = load(yaml: yaml)
    #expect(loaded.diagnostics.containsErrors)
    #expect(!loaded.rendered.contains("my-secret-key"))
  }
}
