#pragma once
#include <zlib.h>

// inflateInit2 is a macro, which Swift cannot import. 16 selects gzip with its checksums.
static inline int prefetch_inflate_gzip(z_stream *stream) {
  return inflateInit2(stream, MAX_WBITS + 16);
}

// Reads raw deflate streams, as in zip files.
static inline int prefetch_inflate_raw(z_stream *stream) {
  return inflateInit2(stream, -MAX_WBITS);
}
