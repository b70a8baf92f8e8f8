/// A second tier in memory, like any server that accepts PUT.
package final class MemoryTier: Sendable {
  /// Stored files by path, and the server's behavior.
  package struct State: Sendable {
    package var files: [String: [UInt8]] = [:]
    /// Returns a script in place of the correct response; nil responds correctly.
    package var behaviour: @Sendable (LoopbackRequest, [UInt8]?) -> Script? = { _, _ in nil }
  }

  private let state = Guarded(State())

  package init() {}

  package var files: [String: [UInt8]] {
    get { state.withLock(\.files) }
    set { state.withLock { $0.files = newValue } }
  }

  package func behave(_ behaviour: @escaping @Sendable (LoopbackRequest, [UInt8]?) -> Script?) {
    state.withLock { $0.behaviour = behaviour }
  }

  /// Returns the response as a script.
  package func respond(to request: LoopbackRequest) -> Script {
    let (file, behaviour) = state.withLock { ($0.files[request.path], $0.behaviour) }
    if let script = behaviour(request, file) { return script }
    let (status, body) = respond(to: request.method, request.path, request.body)
    guard status == 200 else { return .respond(status) }
    let head = Script.head(200, [("Content-Length", String(body.count))])
    return Script([.send(request.method == "HEAD" ? head : head + body)])
  }

  /// Returns the response as a value; a HEAD response includes the body of GET.
  package func respond(
    to method: String,
    _ path: String,
    _ body: [UInt8]
  ) -> (status: Int, body: [UInt8]) {
    let file = state.withLock { $0.files[path] }
    switch method {
    case "PUT":
      state.withLock { $0.files[path] = body }
      return (file == nil ? 201 : 204, [])
    case "GET", "HEAD":
      return file.map { (200, $0) } ?? (404, [])
    default:
      return (405, [])
    }
  }
}
