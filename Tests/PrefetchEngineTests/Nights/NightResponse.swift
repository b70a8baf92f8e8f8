import PrefetchCore

/// A request and its response, as the origin logged them.
struct NightResponse {
  /// Index of the item; nil for the list of items.
  var item: Int?
  var url: String
  var sent: NightHead
  /// Seconds at which the request was sent, the response's head arrived and its body ended.
  var requestedAt: Int64
  var received: Int64 = 0
  var finishedAt: Int64 = 0
  var status = 0
  var head = NightHead()
  /// Body bytes that were transferred.
  var bytes: [UInt8] = []
  /// Complete body, of which `bytes` are all or a part.
  var whole: [UInt8] = []
  var isCut = false
  /// Target of a redirect.
  var target: String?

  var isRedirect: Bool { target != nil }
}

extension NightResponse: CustomStringConvertible {
  var description: String {
    let body = isCut ? "\(bytes.count) of \(whole.count) bytes, cut" : "\(bytes.count) bytes"
    return "  \(requestedAt)…\(finishedAt) \(url) [\(sent)] → \(status) [\(head)] \(body)"
  }
}
