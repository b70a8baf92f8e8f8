/* The floor: the duties of a run and nothing else. Two threads of libcurl, one of SQLite.

   cold  Each body is hashed and written to a file without a name, which is linked under its digest;
         its row is inserted. Groups of rows become durable together: syncfs, then COMMIT.
   warm  The validators of all rows are read from the index, both are sent, the row is renewed.

   floor cold|warm LIST HANDLES h1|h2 STORE [CA-FILE] */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2, LONGEST_WAIT = 10, GROUP = 512, HANDED = 64, IN_MEMORY = 64 << 10, TEXT = 64 };

/* What is known of a URL, or has become known. */
typedef struct {
  const char *url;
  char tag[TEXT], modified[TEXT];
  unsigned char digest[32];
  sqlite3_int64 size;
} Item;

/* A handle and what it is busy with. */
typedef struct {
  CURLU *url;
  Item *item;
  EVP_MD_CTX *hash;
  size_t held;
  int file;
  unsigned char body[IN_MEMORY];
  char lines[2][TEXT + 32];
  struct curl_slist conditions[2];
} Fetch;

static Item *items;
static size_t item_count, handle_count;
static int is_warm, is_multiplexed, folder, objects;
static const char *trust;
static EVP_MD *sha256;
static sqlite3 *index_;

/* What has come and has no row yet. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrival = PTHREAD_COND_INITIALIZER;
static Item **arrived;
static size_t arrived_count, wanted_count;

static void require(int is_so, const char *deed) {
  if (is_so) return;
  fprintf(stderr, "%s: %s\n", deed, errno ? strerror(errno) : sqlite3_errmsg(index_));
  exit(1);
}

static void execute(const char *text) {
  require(sqlite3_exec(index_, text, NULL, NULL, NULL) == SQLITE_OK, text);
}

/* MARK: One thread writes the index */

static sqlite3_stmt *prepare(const char *text) {
  sqlite3_stmt *statement;
  require(sqlite3_prepare_v2(index_, text, -1, &statement, NULL) == SQLITE_OK, text);
  return statement;
}

static void note(sqlite3_stmt *statement, const Item *item) {
  sqlite3_bind_int64(statement, 1, item - items + 1);
  sqlite3_bind_int64(statement, 2, time(NULL));
  if (!is_warm) {
    sqlite3_bind_text(statement, 3, item->url, -1, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 4, item->digest, sizeof item->digest, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 5, item->size);
    sqlite3_bind_text(statement, 6, item->tag, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 7, item->modified, -1, SQLITE_STATIC);
  }
  require(sqlite3_step(statement) == SQLITE_DONE, "write a row");
  sqlite3_reset(statement);
}

static void *keep(void *unused) {
  (void)unused;
  sqlite3_stmt *statement = prepare(is_warm ? "UPDATE items SET asked=?2 WHERE item=?1"
                                            : "INSERT INTO items VALUES(?1,?2,?3,?4,?5,?6,?7)");
  for (size_t done = 0, end; done < item_count; done = end) {
    pthread_mutex_lock(&mutex);
    wanted_count = done + GROUP < item_count ? done + GROUP : item_count;
    while (arrived_count < wanted_count) pthread_cond_wait(&arrival, &mutex);
    end = arrived_count;
    pthread_mutex_unlock(&mutex);
    if (!is_warm) require(syncfs(folder) == 0, "syncfs");
    execute("BEGIN");
    for (size_t place = done; place < end; place++) note(statement, arrived[place]);
    execute("COMMIT");
  }
  sqlite3_finalize(statement);
  return NULL;
}

/* MARK: Two threads transfer */

static void empty(Fetch *fetch) {
  const unsigned char *bytes = fetch->body;
  if (fetch->file < 0) fetch->file = openat(objects, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0444);
  for (size_t rest = fetch->held; rest > 0;) {
    ssize_t count = write(fetch->file, bytes, rest);
    require(count >= 0, "write");
    bytes += count, rest -= (size_t)count;
  }
  fetch->held = 0;
}

static size_t take(char *bytes, size_t size, size_t count, void *argument) {
  Fetch *fetch = argument;
  size_t length = size * count;
  EVP_DigestUpdate(fetch->hash, bytes, length);
  fetch->item->size += (sqlite3_int64)length;
  for (size_t rest = length; rest > 0;) {
    if (fetch->held == IN_MEMORY) empty(fetch);
    size_t part = rest < IN_MEMORY - fetch->held ? rest : IN_MEMORY - fetch->held;
    memcpy(fetch->body + fetch->held, bytes, part);
    fetch->held += part, bytes += part, rest -= part;
  }
  return length;
}

static void copy_value(char *target, const char *line, size_t length, size_t name) {
  if (length <= name || length - name >= TEXT) return;
  memcpy(target, line + name, length - name);
  target[length - name] = 0;
  target[strcspn(target, "\r\n")] = 0;
}

static size_t hear(char *line, size_t size, size_t count, void *argument) {
  Item *item = ((Fetch *)argument)->item;
  size_t length = size * count;
  if (strncasecmp(line, "ETag: ", 6) == 0) copy_value(item->tag, line, length, 6);
  if (strncasecmp(line, "Last-Modified: ", 15) == 0) copy_value(item->modified, line, length, 15);
  return length;
}

/* Gives a body its name. */
static void finish(Fetch *fetch) {
  char name[2 + 1 + 64 + 1], source[32];
  Item *item = fetch->item;
  empty(fetch);
  EVP_DigestFinal_ex(fetch->hash, item->digest, NULL);
  static const char digits[] = "0123456789abcdef";
  for (int place = 0; place < 32; place++) {
    name[3 + 2 * place] = digits[item->digest[place] >> 4];
    name[4 + 2 * place] = digits[item->digest[place] & 15];
  }
  name[0] = name[3], name[1] = name[4], name[2] = '/', name[67] = 0;
  /* Without the right to name an open file by itself, the longer way. */
  int result = linkat(fetch->file, "", objects, name, AT_EMPTY_PATH);
  if (result != 0 && errno != EEXIST) {
    sprintf(source, "/proc/self/fd/%d", fetch->file);
    result = linkat(AT_FDCWD, source, objects, name, AT_SYMLINK_FOLLOW);
  }
  require(result == 0 || errno == EEXIST, "link");
  close(fetch->file);
  fetch->file = -1;
}

static CURL *new_handle(void) {
  CURL *handle = curl_easy_init();
  Fetch *fetch = calloc(1, sizeof *fetch);
  fetch->file = -1;
  fetch->hash = EVP_MD_CTX_new();
  fetch->url = curl_url();
  curl_url_set(fetch->url, CURLUPART_URL, items[0].url, 0);
  for (int number = 0; number < 2; number++) fetch->conditions[number].data = fetch->lines[number];
  fetch->conditions[0].next = &fetch->conditions[1];
  if (is_warm) curl_easy_setopt(handle, CURLOPT_HTTPHEADER, fetch->conditions);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, hear);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, fetch);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, fetch);
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION,
                   is_multiplexed ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(handle, CURLOPT_PIPEWAIT, (long)is_multiplexed);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, 65536L);
  curl_easy_setopt(handle, CURLOPT_PROXY, "");
  if (trust) curl_easy_setopt(handle, CURLOPT_CAINFO, trust);
  curl_easy_setopt(handle, CURLOPT_CURLU, fetch->url);
  curl_easy_setopt(handle, CURLOPT_PRIVATE, fetch);
  return handle;
}

/* All URLs are of one server, so that only the path has to be replaced. */
static void begin(CURLM *multi, CURL *handle, Item *item) {
  Fetch *fetch;
  curl_easy_getinfo(handle, CURLINFO_PRIVATE, &fetch);
  fetch->item = item;
  curl_url_set(fetch->url, CURLUPART_PATH, strchr(strstr(item->url, "//") + 2, '/'), 0);
  if (is_warm) {
    sprintf(fetch->lines[0], "If-None-Match: %s", item->tag);
    sprintf(fetch->lines[1], "If-Modified-Since: %s", item->modified);
  } else {
    EVP_DigestInit_ex(fetch->hash, sha256, NULL);
  }
  curl_multi_add_handle(multi, handle);
}

static Item *end(CURL *handle, CURLcode result) {
  Fetch *fetch;
  long status;
  curl_easy_getinfo(handle, CURLINFO_PRIVATE, &fetch);
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  errno = 0;
  require(result == CURLE_OK && status == (is_warm ? 304 : 200), "fetch");
  if (!is_warm) finish(fetch);
  return fetch->item;
}

static void hand_over(Item **done, size_t count) {
  pthread_mutex_lock(&mutex);
  memcpy(arrived + arrived_count, done, count * sizeof *done);
  arrived_count += count;
  int is_due = arrived_count >= wanted_count;
  pthread_mutex_unlock(&mutex);
  if (is_due) pthread_cond_signal(&arrival);
}

/* Takes every second URL. */
static void *work(void *argument) {
  size_t next = (size_t)argument, active = 0, count = 0;
  Item *done[HANDED];
  CURLM *multi = curl_multi_init();
  long connections = is_multiplexed ? 1 : (long)handle_count;
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections);
  for (; active < handle_count && next < item_count; active++, next += THREADS)
    begin(multi, new_handle(), &items[next]);
  while (active > 0) {
    int running, left, has_news = 0;
    curl_multi_perform(multi, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
      CURL *handle = message->easy_handle;
      done[count++] = end(handle, message->data.result);
      if (count == HANDED) hand_over(done, count), count = 0;
      has_news = 1;
      curl_multi_remove_handle(multi, handle);
      if (next < item_count) {
        begin(multi, handle, &items[next]);
        next += THREADS;
      } else {
        active--;
      }
    }
    if (!has_news) curl_multi_poll(multi, NULL, 0, LONGEST_WAIT, NULL);
  }
  hand_over(done, count);
  return NULL;
}

/* MARK: What there is to do */

static void read_list(const char *path) {
  FILE *file = fopen(path, "r");
  char line[4096];
  require(file != NULL, path);
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if (item_count % 1024 == 0) items = realloc(items, (item_count + 1024) * sizeof *items);
    memset(&items[item_count], 0, sizeof *items);
    items[item_count++].url = strdup(line);
  }
  fclose(file);
}

static void copy_text(char *target, sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  snprintf(target, TEXT, "%s", text ? text : "");
}

static void read_rows(void) {
  sqlite3_stmt *rows = prepare("SELECT url, tag, modified FROM items ORDER BY item");
  size_t count = 0;
  for (; sqlite3_step(rows) == SQLITE_ROW; count++) {
    const char *url = (const char *)sqlite3_column_text(rows, 0);
    require(count < item_count && strcmp(url, items[count].url) == 0, "another list");
    copy_text(items[count].tag, rows, 1);
    copy_text(items[count].modified, rows, 2);
  }
  require(count == item_count, "fewer rows than URLs");
  sqlite3_finalize(rows);
}

static void open_store(const char *store) {
  char path[4096];
  snprintf(path, sizeof path, "%s/objects/sha256", store);
  folder = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  require(folder >= 0, store);
  if (mkdirat(folder, "objects", 0755) == 0 && mkdirat(folder, "objects/sha256", 0755) == 0)
    for (int number = 0; number < 256; number++) {
      char name[32];
      sprintf(name, "objects/sha256/%02x", number);
      mkdirat(folder, name, 0755);
    }
  objects = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  require(objects >= 0, path);
  snprintf(path, sizeof path, "%s/index.sqlite", store);
  require(sqlite3_open(path, &index_) == SQLITE_OK, path);
  execute("PRAGMA journal_mode=WAL");
  execute("PRAGMA synchronous=FULL");
  execute("CREATE TABLE IF NOT EXISTS items(item INTEGER PRIMARY KEY, asked INTEGER, url TEXT, "
          "digest BLOB, size INTEGER, tag TEXT, modified TEXT)");
}

int main(int count, char **words) {
  if (count < 6) return 64;
  is_warm = strcmp(words[1], "warm") == 0;
  read_list(words[2]);
  handle_count = strtoul(words[3], NULL, 10);
  is_multiplexed = strcmp(words[4], "h2") == 0;
  open_store(words[5]);
  if (count > 6 && *words[6]) trust = words[6];
  if (is_warm) read_rows();
  arrived = malloc((item_count + 1) * sizeof *arrived);
  sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
  curl_global_init(CURL_GLOBAL_ALL);
  pthread_t threads[THREADS], keeper;
  pthread_create(&keeper, NULL, keep, NULL);
  for (size_t number = 0; number < THREADS; number++)
    pthread_create(&threads[number], NULL, work, (void *)number);
  for (size_t number = 0; number < THREADS; number++) pthread_join(threads[number], NULL);
  pthread_join(keeper, NULL);
  sqlite3_close(index_);
  printf("%zu\n", arrived_count);
  return arrived_count == item_count ? 0 : 1;
}
