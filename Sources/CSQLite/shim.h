// Wrappers of variadic configuration functions and cast macros, which Swift cannot import.
#pragma once
#include <sqlite3.h>

static inline sqlite3_destructor_type prefetch_sqlite_transient(void) {
  return SQLITE_TRANSIENT;
}
// Binds a copy of the text; an empty text without an address must not become NULL.
static inline int prefetch_sqlite_bind_text(sqlite3_stmt *statement, int index,
                                            const unsigned char *text, int count) {
  return sqlite3_bind_text(statement, index, text ? (const char *)text : "", count,
                           SQLITE_TRANSIENT);
}
// Binds the text without copying it; the caller keeps it in place.
static inline int prefetch_sqlite_borrow_text(sqlite3_stmt *statement, int index, const void *text,
                                              int count) {
  return sqlite3_bind_text(statement, index, text ? (const char *)text : "", count, SQLITE_STATIC);
}
// Turns memory statistics off, for which SQLite would lock a mutex at every allocation.
static inline int prefetch_sqlite_stop_counting_memory(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
static inline int prefetch_sqlite_db_config(sqlite3 *database, int option, int value) {
  return sqlite3_db_config(database, option, value, (int *)0);
}
