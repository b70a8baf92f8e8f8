import PrefetchCore
import PrefetchDocuments

/// A budget of bytes for a period, as a whole and by kind of network.
package struct TransferQuota: Hashable, Sendable {
  package var any = ByteLimit.unlimited
  package var ethernet: ByteLimit?
  package var wifi: ByteLimit?
  package var cellular: ByteLimit?

  package init() {}

  static let table = ObjectType(Self(), name: "quota", shorthand: "any") {
    Field("any", \.any, .sizeLimit, "Bytes over all networks without a limit of their own")
    Field("ethernet", \.ethernet, .sizeLimit, "Bytes over a cable")
    Field("wifi", \.wifi, .sizeLimit, "Bytes over a wireless network")
    Field("cellular", \.cellular, .sizeLimit, "Bytes over a cellular network")
  }
}
