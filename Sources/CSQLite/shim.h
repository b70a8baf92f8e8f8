// Only what Swift's importer drops: variadic configuration calls and cast macros.
#pragma once
#include <sqlite3.h>

static inline sqlite3_destructor_type prefetch_sqlite_transient(void) {
  return SQLITE_TRANSIENT;
}
// Copies the text; one of no bytes stays a text, also where it has no address.
static inline int prefetch_sqlite_bind_text(sqlite3_stmt *statement, int index,
                                            const unsigned char *text, int count) {
  return sqlite3_bind_text(statement, index, text ? (const char *)text : "", count,
                           SQLITE_TRANSIENT);
}
// Leaves the text where it lies.
static inline int prefetch_sqlite_borrow_text(sqlite3_stmt *statement, int index, const void *text,
                                              int count) {
  return sqlite3_bind_text(statement, index, text ? (const char *)text : "", count, SQLITE_STATIC);
}
// Without counters of its memory, SQLite takes no lock for every allocation.
static inline int prefetch_sqlite_stop_counting_memory(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
static inline int prefetch_sqlite_db_config(sqlite3 *database, int option, int value) {
  return sqlite3_db_config(database, option, value, (int *)0);
}
