#pragma once
#include <zlib.h>

// inflateInit2 is a macro, which Swift's importer drops. 16 asks for gzip, its checksums included.
static inline int prefetch_inflate_gzip(z_stream *stream) {
  return inflateInit2(stream, MAX_WBITS + 16);
}

// The same for a stream without anything around it, as in zip files.
static inline int prefetch_inflate_raw(z_stream *stream) {
  return inflateInit2(stream, -MAX_WBITS);
}
