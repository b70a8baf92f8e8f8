/// Items of several files and the requests for their pieces, by item number.
struct Bundles {
  struct Piece {
    let bundle: Int
    let role: BundleWork.Role
    let kept: BundleFile?
  }

  private var works: [Int: BundleWork] = [:]
  var roomLeft: Int64?
  private var withRoom: Set<Int> = []
  private var pieces: [Int: Piece] = [:]

  mutating func reserveRoom(_ need: Int64, for item: Int) -> Bool {
    guard need > 0, !withRoom.contains(item) else { return true }
    if let roomLeft {
      guard need <= roomLeft else { return false }
      self.roomLeft = roomLeft - need
    }
    withRoom.insert(item)
    return true
  }

  subscript(item: Int) -> BundleWork? {
    get { works[item] }
    // In place, since each of a film's hundreds of pieces changes the value.
    _modify { yield &works[item] }
  }

  func piece(_ item: Int) -> Piece? {
    pieces.isEmpty ? nil : pieces[item]
  }

  func pieces(of bundle: Int) -> [Int] {
    pieces.filter { $0.value.bundle == bundle }.keys.sorted()
  }

  mutating func begin(_ piece: Piece, as item: Int) {
    pieces[item] = piece
    works[piece.bundle]?.open += 1
  }

  mutating func end(
    _ item: Int,
    at url: WebURL,
    _ outcome: BundleWork.Outcome?,
    mayContinue: Bool
  ) -> BundleWork.Loss {
    guard let piece = pieces.removeValue(forKey: item) else { return .none }
    works[piece.bundle]?.open -= 1
    guard let outcome else { return .none }
    return works[piece.bundle]?.end(piece.role, at: url, outcome, mayContinue: mayContinue) ?? .none
  }

  /// Whether the item of a piece cannot be completed, so that no request is needed.
  func cannotComplete(_ item: Int) -> Bool {
    piece(item).map { works[$0.bundle]?.outcome != nil } ?? false
  }

  func parent(of item: Int) -> (item: Int, work: BundleWork)? {
    guard let piece = piece(item), let work = works[piece.bundle] else { return nil }
    return (piece.bundle, work)
  }
}
