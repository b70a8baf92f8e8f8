import PrefetchCore
import PrefetchDocuments
import PrefetchServe
import Synchronization

/// Records posted events of clients, one at a time.
final class EventDesk: EventReceiver {
  private let makeRecording: @Sendable () -> EventRecording
  /// The state takes one writer at a time.
  private let lock = Mutex(())

  init(_ makeRecording: @escaping @Sendable () -> EventRecording) {
    self.makeRecording = makeRecording
  }

  func respond(_ body: [UInt8]) -> ServedResponse {
    let message: EventMessage
    do throws(EventMessage.Fault) {
      message = try EventMessage(body)
    } catch {
      return Self.refusal(400, error.reason)
    }
    return lock.withLock { _ in
      let recording = makeRecording()
      do throws(CommandExit) {
        let event = try message.record(recording)
        return Self.recorded(message, event, hiding: recording.context.console.needles)
      } catch {
        return Self.refusal(of: error)
      }
    }
  }

  private static func recorded(
    _ message: EventMessage,
    _ event: AnalyticsEvent,
    hiding needles: SecretNeedles
  ) -> ServedResponse {
    let document: JSONValue = [
      "schema": "prefetch-event/1", "action": .string(message.action), "event": event.document,
    ]
    let bytes = JSONWriter.bytes(document.masked(needles: needles), form: .pretty)
    return ServedResponse(
      200,
      [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
      body: .text(String(decoding: bytes, as: UTF8.self) + "\n")
    )
  }

  private static func refusal(of exit: CommandExit) -> ServedResponse {
    switch exit.status {
    case ExitStatus.nothing.code: refusal(404, "no known item or segment has this name")
    case ExitStatus.usage.code: refusal(400, "it names no item, or a time in the future")
    case ExitStatus.io.code, ExitStatus.deferred.code: refusal(503, "the state cannot be written")
    default: refusal(500, "it was not recorded")
    }
  }

  private static func refusal(_ status: Int, _ words: String) -> ServedResponse {
    ServedResponse(
      status,
      [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")],
      body: .text("\(words)\n")
    )
  }
}

struct EventMessage: Hashable {
  struct Fault: Error {
    var reason: String
  }

  private enum Content: Hashable {
    case event(EventOptions.Action, String)
    case consumption(EventRecording.Consumption)
  }

  private let content: Content

  var action: String {
    switch content {
    case .event(let action, _): action.rawValue
    case .consumption: "consume"
    }
  }

  func record(_ recording: EventRecording) throws(CommandExit) -> AnalyticsEvent {
    switch content {
    case .event(let action, let name): try recording.record(action, name)
    case .consumption(let seen): try recording.consume(seen)
    }
  }

  init(_ body: [UInt8]) throws(Fault) {
    let outcome = DocumentReader.read(body, source: "event", syntax: .json)
    guard outcome.diagnostics.isEmpty, let root = outcome.node, let entries = root.mapping else {
      throw Fault(reason: "an event is one JSON object")
    }
    var fields = Fields()
    for entry in entries { try fields.add(entry) }
    guard let action = fields.texts["action"] else { throw Fault(reason: "`action` is missing") }
    if action == "consume" {
      content = .consumption(try fields.consumption())
    } else if let known = EventOptions.Action(rawValue: action) {
      content = .event(known, try fields.eventName())
    } else {
      throw Fault(reason: "`action` is `start`, `stop`, `log` or `consume`")
    }
  }

  /// Members with a value; `null` counts as missing.
  private struct Fields {
    var texts: [String: String] = [:]
    private static let known = ["action", "name", "item", "from", "to", "length", "at"]
    private static let numbers = ["from", "to", "length"]

    mutating func add(_ entry: Node.Entry) throws(Fault) {
      guard Self.known.contains(entry.key) else {
        throw Fault(reason: "`\(SafeText.line(entry.key))` is not a key of an event")
      }
      guard let scalar = entry.value.scalar else {
        throw Fault(reason: "`\(entry.key)` is \(entry.value.kindName)")
      }
      switch scalar.kind {
      case .null: return
      case .string: texts[entry.key] = scalar.text
      case .number where Self.numbers.contains(entry.key): texts[entry.key] = scalar.text
      case .number, .boolean, .unquoted, .date, .data:
        throw Fault(reason: "`\(entry.key)` is \(entry.value.kindName)")
      }
    }

    private func refuse(_ keys: [String]) throws(Fault) {
      for key in keys where texts[key] != nil {
        throw Fault(reason: "`\(key)` does not belong to this action")
      }
    }

    func eventName() throws(Fault) -> String {
      try refuse(["item", "from", "to", "length", "at"])
      let kind = ValueKind<String>.eventName
      guard let name = texts["name"].flatMap(kind.parse) else {
        throw Fault(reason: "`name` is \(kind.expectation)")
      }
      return name
    }

    func consumption() throws(Fault) -> EventRecording.Consumption {
      try refuse(["name"])
      guard let item = texts["item"], !item.isEmpty else {
        throw Fault(reason: "`item` is missing")
      }
      var seen = EventRecording.Consumption(item: item)
      seen.start = try duration("from")
      seen.end = try duration("to")
      seen.length = try duration("length")
      if let text = texts["at"] {
        guard let time = ValueKind<Instant>.time.parse(text) else {
          throw Fault(reason: "`at` is \(ValueKind<Instant>.time.expectation)")
        }
        seen.time = time
      }
      if let start = seen.start, let end = seen.end, end < start {
        throw Fault(reason: "`to` comes before `from`")
      }
      return seen
    }

    private func duration(_ key: String) throws(Fault) -> Duration? {
      guard let text = texts[key] else { return nil }
      guard let duration = ValueKind<Duration>.duration.parse(text) else {
        let kind = ValueKind<Duration>.duration
        throw Fault(reason: "`\(key)` is a number of seconds or \(kind.expectation)")
      }
      return duration
    }
  }
}
