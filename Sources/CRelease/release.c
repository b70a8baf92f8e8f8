#include "CRelease.h"

// The commit is defined in this file alone, so that a new commit recompiles nothing else.
#ifndef PREFETCH_COMMIT
#define PREFETCH_COMMIT ""
#endif

#ifdef PREFETCH_TAG
_Static_assert(__builtin_strcmp(PREFETCH_TAG, "v" PREFETCH_VERSION) == 0,
               "the tag is not that of PREFETCH_VERSION in CRelease.h");
#else
#define PREFETCH_TAG ""
#endif

const char *prefetch_commit(void) { return PREFETCH_COMMIT; }
const char *prefetch_tag(void) { return PREFETCH_TAG; }
