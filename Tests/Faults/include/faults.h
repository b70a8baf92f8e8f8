/// Nothing is called here: `LD_PRELOAD` loads the library before the C library.
