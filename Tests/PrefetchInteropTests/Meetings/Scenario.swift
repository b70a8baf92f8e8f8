/// First half of a combination: an event at a server, user or disk that affects a declared URL.
///
/// `arrival` fills the cache; then the server's next act begins and the declaration changes. `then`
/// is the following run, and `last` the run after that, with nothing changed.
struct Scenario: Sendable {
  /// Declaration of the URL in a configuration.
  struct Declaration: Sendable {
    var name = "ring"
    /// Further keys of the segment.
    var segment = ""
    /// Further keys of the item; `DIGEST` stands for the digest of the body named `one`.
    var item = ""
  }

  enum Loss: Sendable {
    case none
    case deleted
    case truncated
    /// Other bytes of the same length, which only reading reveals.
    case damaged
  }

  var name: String
  var path = "/item"
  var before = Declaration()
  /// Declaration of the later runs; nil when it is unchanged.
  var after: Declaration?
  var loss = Loss.none
  var acts: [[String: Reply]]
  var arrival: ExpectedRun
  var then: ExpectedRun
  var last: ExpectedRun
  /// Unconditional fetch after `then`.
  var again: ExpectedRun
  /// Expected outcome of an offline run; nil when it follows from `then`.
  var offline: ExpectedRun?
  /// Expected outcome of a run that revalidates everything; nil when it equals `then`.
  var revalidated: ExpectedRun?
  /// Expected stored headers after `then`; an empty value means absent.
  var headers: [String: String] = [:]

  init(
    _ name: String,
    path: String = "/item",
    _ acts: [String: Reply]...,
    arrival: ExpectedRun,
    then: ExpectedRun,
    last: ExpectedRun,
    again: ExpectedRun? = nil
  ) {
    self.name = name
    self.path = path
    self.acts = acts
    self.arrival = arrival
    self.then = then
    self.last = last
    self.again = again ?? ExpectedRun("refetched 0 \(last.body ?? "-")", "GET \(path) 200")
  }

  func with(_ change: (inout Scenario) -> Void) -> Scenario {
    var scenario = self
    change(&scenario)
    return scenario
  }

  /// Returns the event with these keys declared from the beginning.
  func declared(segment: String = "", item: String = "") -> Scenario {
    with { scenario in
      scenario.before.segment = segment
      scenario.before.item = item
    }
  }

  var changed: Declaration {
    after ?? before
  }
}
