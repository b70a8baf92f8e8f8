#pragma once

// The version, defined only here; the tag of a release is `v` and the version.
#define PREFETCH_VERSION "0.1.0"

// Commit and tag of the build, from the build settings PREFETCH_COMMIT and PREFETCH_TAG; empty
// when these are unset.
const char *_Nonnull prefetch_commit(void);
const char *_Nonnull prefetch_tag(void);
