internal import CCurl
internal import PrefetchCore

extension EasyHandle {
  /// Bytes of the body as they came over the wire, so far.
  var wireSize: Int64 {
    offset(CURLINFO_SIZE_DOWNLOAD_T)
  }

  /// What libcurl measured; phases that a kept connection spared are nil.
  func measure(_ figures: inout TransferFigures, receivedSize: Int64) {
    // libcurl forgets those of the chunks within which a transfer ends.
    figures.wireBytes = max(wireSize, receivedSize) + Int64(number(CURLINFO_HEADER_SIZE))
    figures.requestBytes = Int64(number(CURLINFO_REQUEST_SIZE)) + offset(CURLINFO_SIZE_UPLOAD_T)
    figures.total = time(CURLINFO_TOTAL_TIME_T)
    figures.firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
    figures.requested = time(CURLINFO_PRETRANSFER_TIME_T)
    figures.remoteAddress = remoteAddress
    if number(CURLINFO_NUM_CONNECTS) > 0 {
      let lookup = time(CURLINFO_NAMELOOKUP_TIME_T)
      let connect = time(CURLINFO_CONNECT_TIME_T)
      figures.dns = lookup
      figures.connect = connect.map { $0 - (lookup ?? .zero) }
      figures.tls = time(CURLINFO_APPCONNECT_TIME_T).map { $0 - (connect ?? .zero) }
    } else {
      figures.didReuseConnection = figures.firstByte != nil
    }
  }
}
