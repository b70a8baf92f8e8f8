/// How far a server may send us elsewhere.
package struct Redirects: Hashable, Sendable {
  package var areFollowed = true
  package var maximum = 5
  package var mayCrossHosts = true
  package var mayDowngrade = false

  static let table = ObjectType(Self(), name: "redirects") {
    Field("follow", \.areFollowed, .boolean, "Whether to go where an answer points")
    Field("max", \.maximum, .integer(0...50), "Hops before it counts as a loop")
    Field("cross_host", \.mayCrossHosts, .boolean, "Whether a hop may lead to another host")
    Field(
      "downgrade",
      \.mayDowngrade,
      .boolean,
      "Whether a hop may lead from https to http, where http is allowed"
    )
  }
}
