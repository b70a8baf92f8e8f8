// Only what Swift's importer drops: variadic configuration calls and cast macros.
#pragma once
#include <sqlite3.h>

static inline sqlite3_destructor_type prefetch_sqlite_transient(void) {
  return SQLITE_TRANSIENT;
}
static inline int prefetch_sqlite_db_config(sqlite3 *database, int option, int value) {
  return sqlite3_db_config(database, option, value, (int *)0);
}
