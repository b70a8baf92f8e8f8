import PrefetchCore

/// One request and what came back, as the origin wrote it down.
struct NightAnswer {
  /// Nil for the list of items.
  var item: Int?
  var url: String
  var sent: NightHead
  /// When it went out, when the head of the answer was there and when the end, in seconds, by the one
  /// clock that there is.
  var asked: Int64
  var received: Int64 = 0
  var answered: Int64 = 0
  var status = 0
  var head = NightHead()
  /// What went over the wire.
  var bytes: [UInt8] = []
  /// The whole of the body of which that is all or a part.
  var whole: [UInt8] = []
  var isCut = false
  /// Where a redirect leads.
  var target: String?

  var isRedirect: Bool { target != nil }
}

extension NightAnswer: CustomStringConvertible {
  var description: String {
    let body = isCut ? "\(bytes.count) of \(whole.count) bytes, cut" : "\(bytes.count) bytes"
    return "  \(asked)…\(answered) \(url) [\(sent)] → \(status) [\(head)] \(body)"
  }
}
