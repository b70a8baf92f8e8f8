/// First half of a combination: an event at a server, user or disk that affects a declared URL.
///
/// `arrival` fills the cache; then the server's next act begins and the declaration changes. `then`
/// is the following run, and `last` the run after that, with nothing changed.
struct Happening: Sendable {
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
  var arrival: Visit
  var then: Visit
  var last: Visit
  /// Unconditional fetch after `then`.
  var again: Visit
  /// Expected outcome of an offline run; nil when it follows from `then`.
  var offline: Visit?
  /// Expected outcome of a run that revalidates everything; nil when it equals `then`.
  var revalidated: Visit?
  /// Expected stored headers after `then`; an empty value means absent.
  var headers: [String: String] = [:]

  init(
    _ name: String,
    path: String = "/item",
    _ acts: [String: Reply]...,
    arrival: Visit,
    then: Visit,
    last: Visit,
    again: Visit? = nil
  ) {
    self.name = name
    self.path = path
    self.acts = acts
    self.arrival = arrival
    self.then = then
    self.last = last
    self.again = again ?? Visit("refetched 0 \(last.body ?? "-")", "GET \(path) 200")
  }

  func with(_ change: (inout Happening) -> Void) -> Happening {
    var happening = self
    change(&happening)
    return happening
  }

  /// Returns the event with these keys declared from the beginning.
  func declared(segment: String = "", item: String = "") -> Happening {
    with { happening in
      happening.before.segment = segment
      happening.before.item = item
    }
  }

  var changed: Declaration {
    after ?? before
  }
}
