import PrefetchTestSupport
import Testing

/// State of the cache when a server begins to behave as a row says, and the server's part.
enum Situation: String, Sendable, CaseIterable {
  /// Nothing is stored.
  case first
  /// An older body with a strong entity tag is stored.
  case update
  /// The first half of the body, with a strong entity tag.
  case resume
  /// Nothing is stored, and a second tier that has nothing is asked first.
  case behind
  /// The server is the second tier of a good origin.
  case tier
  /// A lock file of packages names the item and its digest.
  case registry
  /// The body is large; its first request is answered well, and its ranges as the row says.
  case ranges

  /// Situations in which each row has a verdict of its own.
  static let direct: [Situation] = [.first, .update, .resume]
}

/// A server's behavior with the expected outcome in every situation.
struct Row: Sendable, CustomTestStringConvertible {
  typealias Behaviour = @Sendable (Scene) -> Script

  var testDescription: String
  var verdicts: [Situation: Verdict]
  /// Verdicts where the server is reached over TLS, if they differ.
  var secureVerdicts: [Situation: Verdict] = [:]
  /// Path of the URL.
  var path = "/item"
  /// Further keys of the item as YAML; `NEW` is the new body's digest, `SIZE` its size.
  var item = ""
  /// Further keys of the segment.
  var segment = ""
  /// Keys of `network.timeouts`.
  var timeouts = "read: 20s"
  /// Further keys of `network.retries`.
  var retries = "items: 3"
  var largest = "4MiB"
  /// Further sections of the configuration.
  var settings = ""
  /// Whether a good outcome over HTTP/1.1 may be a failure over HTTP/2.
  var isOtherOverHTTP2 = false
  /// Whether the server codes even archives, of which a stated coding is taken for their own.
  var isCodedUnasked = false
  /// Body of the response, when it is not the usual one.
  var body: [UInt8]?
  /// Behavior of the interrupted transfer, when it is not half of a normal body.
  var interrupted: Behaviour?
  var behaviour: Behaviour

  /// Creates a row; verdicts such as `gone 4` or `added 0 x1` state outcome or error code, exit
  /// status and, where relevant, the number of requests.
  init(
    _ description: String,
    _ first: String,
    _ update: String,
    _ resume: String,
    _ behaviour: @escaping Behaviour
  ) {
    testDescription = description
    verdicts = [.first: Verdict(first), .update: Verdict(update), .resume: Verdict(resume)]
    self.behaviour = behaviour
  }

  /// Creates a row whose server sends a small response with these lines and closes the connection.
  init(
    _ description: String,
    _ first: String,
    _ update: String,
    _ resume: String,
    head: String,
    body: String = "hello"
  ) {
    self.init(description, first, update, resume) { _ in
      .raw("HTTP/1.1 200 OK\r\n\(head)\r\n\(body)", then: .close)
    }
  }

  /// Nothing but a status line and an empty body.
  init(_ line: String, _ first: String, _ update: String, _ resume: String) {
    self.init(line, first, update, resume) { _ in
      .raw("HTTP/1.1 \(line)\r\nContent-Length: 0\r\n\r\n")
    }
  }

  /// Returns the expected outcome; nil where only invariants hold.
  func verdict(in situation: Situation, over transport: Transport) -> Verdict? {
    let known = situation == .behind ? .first : situation
    guard let verdict = verdicts[known] else { return nil }
    return switch transport {
    case .plain: verdict
    case .tls: secureVerdicts[known] ?? verdict
    // The faults of streams have names of their own; a good answer is one over HTTP/2 as well.
    case .http2: (secureVerdicts[known] ?? verdict).isGood && !isOtherOverHTTP2 ? .good : nil
    }
  }

  /// Whether nothing but the server's behavior decides about the item.
  var isBehaviourAlone: Bool {
    item.isEmpty && segment.isEmpty && settings.isEmpty && path == "/item"
  }

  /// Whether the item is stored when a list of packages names it.
  func isGoodInRegistry(over transport: Transport) -> Bool {
    isBehaviourAlone && !isCodedUnasked && verdicts[.first]?.isGood == true
      && (transport != .http2 || !isOtherOverHTTP2)
  }

  /// Whether the server may close its host to later runs.
  var isGate: Bool {
    verdicts.values.contains { $0.words.contains("deferred") }
  }

  mutating func setSecureVerdict(_ text: String) {
    for situation in Situation.direct { secureVerdicts[situation] = Verdict(text) }
  }

  func with(_ change: (inout Row) -> Void) -> Row {
    var row = self
    change(&row)
    return row
  }
}

/// Expected outcome of an item.
struct Verdict: Sendable {
  /// Outcomes that imply a new body.
  private static let newBody = ["added", "updated"]

  /// Accepted outcomes; alternatives are separated by bars.
  var words: [String]
  var exits: [Int32]
  var requests: Int?

  init(_ text: String) {
    let parts = text.split(separator: " ").map { String($0) }
    words = parts.first.map { $0.split(separator: "|").map { String($0) } } ?? []
    exits = parts.dropFirst().first?.split(separator: "|").compactMap { Int32($0) } ?? []
    requests = parts.dropFirst(2).first.flatMap { Int($0.dropFirst()) }
  }

  /// Verdict of any good response.
  static let good = Verdict("added|updated|unchanged|headers 0")

  var isGood: Bool { exits == [0] }

  /// Whether the first response is good already.
  var isGoodAtOnce: Bool { isGood && requests == 1 }

  /// Returns the body that is stored after an outcome.
  static func stored(after word: String, in situation: Situation, new: [UInt8]) -> [UInt8]? {
    if newBody.contains(word) { return new }
    return situation == .update ? Scene.old : nil
  }
}
