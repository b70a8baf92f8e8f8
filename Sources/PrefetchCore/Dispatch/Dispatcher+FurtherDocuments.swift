extension Dispatcher {
  mutating func readWhenSigned(_ number: Int) {
    guard isToBeSigned(number) else { return read(number) }
    guard documents[number].signature == nil, let url = documents[number].url else {
      return read(number)
    }
    let index = documents[number].segment
    guard let signatureURL = Documents.signatureURL(of: url) else {
      let failure = Failure(.signature, "its URL is too long for a signature beside it")
      return fail(document: number, failure)
    }
    let signature = add(
      .signature(of: number),
      at: signatureURL,
      to: index,
      named: documents[number].namer
    )
    documents[number].signature = signature
    // The signature stored with a document is its own, so no server is asked.
    if case .stored = documents[number].bytes, let stored = documents[signature].stored {
      documents[signature].bytes = .stored(stored.digest)
      documents[signature].accepted = stored
      return signatureIsHere(signature)
    }
    requestDocument(signature)
  }

  mutating func signatureIsHere(_ signature: Int) {
    guard case .signature(let number) = documents[signature].role else { return }
    segments[documents[signature].segment].openDocuments -= 1
    read(number)
  }

  private mutating func add(
    _ role: DocumentWork.Role,
    at url: WebURL,
    to index: Int,
    named namer: Provenance
  ) -> Int {
    var document = DocumentWork(segment: index, role: role, url: url, named: namer)
    document.stored = segments[index].knownDocuments[url.string]
    segments[index].openDocuments += 1
    return documents.add(document)
  }

  private mutating func read(_ number: Int) {
    let source = documents.source(
      of: number,
      in: segments[documents[number].segment].declaration,
      known: segments[documents[number].segment].recorded?.documents ?? [],
      maximumSize: request.policy.maximumManifestSize
    )
    guard let source else { return }
    begun.begin(.documents)
    effects.append(.readDocument(number, source))
  }

  private func isToBeSigned(_ number: Int) -> Bool {
    documents.isToBeSigned(number, in: segments[documents[number].segment].declaration)
  }

  // MARK: What was read

  mutating func documentRead(_ number: Int, _ reading: Result<Manifest, Failure>) {
    let index = documents[number].segment
    begun.end(.documents)
    guard isWanted(document: number) else { return }
    if storeFailure != nil { return settleManifestHalted(index) }
    if case .reading = documents[number].lookup { return pageRead(number, try? reading.get()) }
    switch reading {
    case .failure(let failure):
      if requestAgainIfDamaged(number, after: failure) { return }
      fail(document: number, failure)
    case .success(let manifest):
      // The publisher may have signed the same bytes again, with later or further times.
      if isToBeSigned(number),
        let objection = ManifestGuard.objection(
          toTimesOf: manifest,
          isSigned: true,
          expiry: request.policy.manifestExpiry,
          now: expiryTime(of: documents[number].segment)
        ), requestAgainIfDamaged(number, after: objection)
      {
        return
      }
      acceptManifest(manifest, of: number)
    }
  }

  private mutating func requestAgainIfDamaged(_ number: Int, after failure: Failure) -> Bool {
    guard [.storeDamaged, .signature].contains(failure.code), !request.policy.isOffline,
      segments[documents[number].segment].lastList == nil
    else {
      return false
    }
    if let signature = documents[number].signature, documents[signature].exchange == nil {
      documents[signature].bytes = nil
      documents[signature].accepted = nil
      documents[signature].stored = nil
      segments[documents[number].segment].openDocuments += 1
      requestDocument(signature)
      return true
    }
    if failure.code == .storeDamaged, documents[number].exchange == nil,
      documents[number].furtherDocument?.isImmutable == true
    {
      documents[number].bytes = nil
      documents[number].accepted = nil
      documents[number].stored = nil
      requestDocument(number)
      return true
    }
    guard failure.code == .storeDamaged, documents[number].staged == nil,
      let exchange = documents[number].exchange, exchange.value.isConditional
    else { return false }
    exchange.value.dropConditions()
    documents[number].bytes = nil
    // The stored document's signature need not sign the next one.
    if let signature = documents[number].signature {
      if let staged = documents[signature].staged { effects.append(.discard(staged)) }
      documents[signature].staged = nil
      documents[number].signature = nil
    }
    reask(.document(number))
    return true
  }

  mutating func acceptManifest(_ manifest: Manifest, of number: Int) {
    let index = documents[number].segment
    if let further = documents[number].furtherDocument,
      let objection = objection(to: manifest, further, number)
    {
      return fail(document: number, objection)
    }
    do throws(Failure) {
      try segments[index].documentCount.add(manifest)
    } catch {
      return fail(document: number, error)
    }
    documents[number].manifest = manifest
    let isSigned = isToBeSigned(number)
    documents[number].accepted?.generated = isSigned ? manifest.generated : nil
    segments[index].openDocuments -= 1
    let namer = documents[number].provenance
    // The list states the revisions of its checksum lists, so that they change with it only.
    if !manifest.furtherDocuments.allSatisfy({ $0.isOptional || $0.isImmutable }) {
      segments[index].hasFurtherDocuments = true
    }
    for further in manifest.furtherDocuments {
      if further.isUnproven, !segments[index].declaration.manifestKeys.isEmpty { continue }
      do throws(Failure) {
        guard try segments[index].documentCount.admit(further) else { continue }
      } catch {
        return fail(document: number, error)
      }
      let added = add(.further(further), at: further.url, to: index, named: namer)
      documents[number].children.append(added)
    }
    // A part may fail at once; then the others are not wanted.
    for child in documents[number].children {
      guard isWanted(document: number) else { return }
      requestDocument(child)
    }
    // With parts, the last of them to be accepted completes the list.
    guard documents[number].children.isEmpty, isWanted(document: number),
      segments[index].openDocuments == 0
    else { return }
    judge(index)
  }

  /// Goes on without an optional document, whose failure must not hide the rest of the list.
  mutating func passOver(document number: Int, _ failure: Failure) {
    let index = documents[number].segment
    if let staged = documents[number].staged { effects.append(.discard(staged)) }
    documents[number].staged = nil
    documents[number].accepted = nil
    // The next run may have better luck.
    segments[index].limitQuiet(until: nil)
    let name = documents[number].url?.redacted ?? ""
    documents[number].manifest = Manifest()
    let isOfDates = documents[number].furtherDocument?.datedVersions != nil
    documents[number].manifest?.warnings = [
      !isOfDates
        ? Diagnostic(
          "manifest.checksums",
          "`\(name)`: \(failure.message); the assets of its release are taken without it",
          severity: .warning
        )
        : Diagnostic(
          "manifest.dates",
          "`\(name)`: \(failure.message); the age of its files counts from their first sight",
          severity: .warning
        )
    ]
    segments[index].openDocuments -= 1
    guard segments[index].openDocuments == 0 else { return }
    judge(index)
  }

  private mutating func objection(
    to manifest: Manifest,
    _ further: FurtherDocument,
    _ number: Int
  ) -> Failure? {
    let index = documents[number].segment
    return ManifestGuard.objection(
      to: manifest,
      asFurtherDocument: further,
      of: segments[index].declaration,
      madeWith: documents[index].manifest?.generated,
      stored: documents[number].stored?.generated,
      isSigned: isToBeSigned(number),
      policy: request.policy,
      bundleID: request.bundleID,
      now: expiryTime(of: index)
    )
  }

  mutating func acceptDocuments(_ index: Int) {
    let (records, bodies) = documents.drainAccepted(index)
    guard !bodies.isEmpty || records != segments[index].recorded?.documents ?? [] else { return }
    batchListChange(.documents(segments[index].key, records, bodies: bodies))
  }

  // MARK: Pages of package indexes: none is asked for where the files of its requirement are stored

  mutating func beginPageLookup(_ number: Int) -> Bool {
    let policy = request.policy
    guard case .packageIndex = documents[number].furtherDocument?.kind,
      case .none = documents[number].lookup, documents[number].stored != nil,
      !policy.refetchesAll, !policy.revalidatesAll, !policy.isOffline,
      !documents.isToBeSigned(number, in: segments[documents[number].segment].declaration)
    else { return false }
    documents[number].lookup = .reading
    return true
  }

  /// Looks into the store before a registry is asked for the dates of a package.
  mutating func beginDateLookup(_ number: Int) -> Bool {
    guard documents[number].furtherDocument?.datedVersions != nil,
      case .none = documents[number].lookup
    else { return false }
    documents[number].lookup = .reading
    if documents[number].stored != nil, !request.policy.refetchesAll {
      useStored(number, status: .skipped)
    } else {
      withInventory(.page(document: number))
    }
    return true
  }

  /// Keeps a stored index page until the inventory is here; nil if the page is lost.
  mutating func pageRead(_ number: Int, _ page: Manifest?) {
    documents[number].manifest = page
    withInventory(.page(document: number))
  }

  mutating func judgePage(_ number: Int) {
    let index = documents[number].segment
    guard isWanted(document: number) else { return }
    guard storeFailure == nil else { return settleManifestHalted(index) }
    documents[number].lookup = .done
    let page = documents[number].manifest
    documents[number].manifest = nil
    if let versions = documents[number].furtherDocument?.datedVersions {
      let lacking = versions.filter { version in
        let row = facts.inventory.position(of: version.url.string)
        return row.map { !isUsable(facts.inventory.rows[$0]) } ?? true
      }
      let dated = page?.entries ?? EntryTable()
      if lacking.allSatisfy({ dated.position(of: URLKey($0.url.string)) != nil }) {
        return acceptManifest(page ?? Manifest(), of: number)
      }
    } else if let page, isStored(page, of: index) {
      return acceptManifest(page, of: number)
    }
    documents[number].bytes = nil
    documents[number].finalURL = nil
    documents[number].accepted = nil
    requestDocument(number)
  }

  private func isStored(_ page: Manifest, of index: Int) -> Bool {
    guard page.rejected.isEmpty, page.itemCount > 0, !page.lacksFiles else { return false }
    let selection = ManifestSelection(segments[index].declaration.manifestRules)
    let entries = ownShare(of: selection.apply(to: page.entries))
    return entries.indices.allSatisfy { position in
      facts.holds(entries.entry(at: position, identified: false), entries.key(at: position))
    }
  }
}

extension Manifest {
  /// Adds a further document; what it says of entries waits in `supplements` until all are known.
  package mutating func add(
    _ other: Manifest,
    as kind: FurtherDocument.Role?,
    _ supplements: inout ListSupplements
  ) {
    switch kind {
    case .checksums(let list): supplements.digests.add(other.entries, of: list)
    case .dates: supplements.dates.add(other.entries)
    case .page, .sitemap, .packageIndex, .moduleSource, .hubTree, nil: return add(other)
    }
    warnings += other.warnings
  }

  package mutating func add(_ other: Manifest) {
    entries.append(contentsOf: other.entries)
    rejected += other.rejected
    warnings += other.warnings
    expires = [expires, other.expires].compactMap(\.self).min()
    maximumFileSize = [maximumFileSize, other.maximumFileSize].compactMap(\.self).min()
  }
}

extension Planner.Facts {
  /// Whether the store has a usable body with a digest that the entry declares.
  fileprivate func holds(_ entry: ManifestEntry, _ key: URLKey) -> Bool {
    guard let position = inventory.position(of: key) else { return false }
    let row = inventory.rows[position]
    guard isUsable(row) else { return false }
    let strong = inventory.strongDigests(of: position)
    return entry.digests.contains { digest in
      digest.bytes == (digest.algorithm == .sha256 ? row.digest.bytes : strong[digest.algorithm])
    }
  }
}
