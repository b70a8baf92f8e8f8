#pragma once

/// The one place of the version; a release is tagged `v` and this.
#define PREFETCH_VERSION "0.1.0"

/// The commit that this was built from and the tag that it carries, as the build was told by
/// PREFETCH_COMMIT and PREFETCH_TAG; empty where it was not told.
const char *_Nonnull prefetch_commit(void);
const char *_Nonnull prefetch_tag(void);
