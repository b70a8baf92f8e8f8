/// The items of several files under way, by their numbers, and the pieces that are asked for.
struct Bundles {
  /// A request for a part of an item.
  struct Piece {
    /// The item's number.
    let bundle: Int
    let role: BundleWork.Role
    /// What is here of it, and asked about.
    let kept: BundleFile?
  }

  private var works: [Int: BundleWork] = [:]
  /// Bytes that better variants may still take; nil for any number.
  var spare: Int64?
  /// The items for whose better variants that is counted already.
  private var withRoom: Set<Int> = []
  private var pieces: [Int: Piece] = [:]

  /// Takes so much of what is spare for an item; false where it is not there any more.
  mutating func takeSpare(_ need: Int64, for item: Int) -> Bool {
    guard need > 0, !withRoom.contains(item) else { return true }
    if let spare {
      guard need <= spare else { return false }
      self.spare = spare - need
    }
    withRoom.insert(item)
    return true
  }

  subscript(item: Int) -> BundleWork? {
    get { works[item] }
    // In place: a film has hundreds of pieces, and each that comes changes it.
    _modify { yield &works[item] }
  }

  func piece(_ item: Int) -> Piece? {
    pieces.isEmpty ? nil : pieces[item]
  }

  /// The numbers of all pieces of an item that are asked for.
  func pieces(of bundle: Int) -> [Int] {
    pieces.filter { $0.value.bundle == bundle }.keys.sorted()
  }

  mutating func begin(_ piece: Piece, as item: Int) {
    pieces[item] = piece
    works[piece.bundle]?.open += 1
  }

  /// Ends a piece; `mayGoOn` is whether its item may do without one.
  mutating func end(
    _ item: Int,
    at url: WebURL,
    _ ending: BundleWork.Ending?,
    mayGoOn: Bool
  ) -> BundleWork.Loss {
    guard let piece = pieces.removeValue(forKey: item) else { return .none }
    works[piece.bundle]?.open -= 1
    guard let ending else { return .none }
    return works[piece.bundle]?.end(piece.role, at: url, ending, mayGoOn: mayGoOn) ?? .none
  }

  /// Whether the item of a piece will not be whole anyway, so that no server has to be asked.
  func isForsaken(_ item: Int) -> Bool {
    piece(item).map { works[$0.bundle]?.ending != nil } ?? false
  }

  /// The item of a piece, and what is known of it.
  func parent(of item: Int) -> (item: Int, work: BundleWork)? {
    guard let piece = piece(item), let work = works[piece.bundle] else { return nil }
    return (piece.bundle, work)
  }
}
