/// Where runs leave what the next one needs to know.
package struct State: Hashable, Sendable {
  package var folder: String?

  static let table = ObjectType(Self(), name: "state") {
    Field("dir", \.folder, .path, "Folder of the state database")
  }
}
