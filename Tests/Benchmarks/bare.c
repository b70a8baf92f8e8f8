/* The floor of the rows that libcurl carries: two threads that ask for every URL of a list with
   handles used again and again, and drop what comes. It keeps, checks and hashes nothing, so what
   lies between it and a whole run is what the run adds to libcurl.

   bare LIST HANDLES h1|h2 [CA-FILE] [HEADER...] */
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, LONGEST_WAIT = 10 };

static char **urls;
static size_t url_count;
static size_t handle_count;
static int is_multiplexed;
static const char *trust;
static struct curl_slist *headers;

static size_t drop(char *bytes, size_t size, size_t count, void *unused) {
  (void)bytes, (void)unused;
  return size * count;
}

static CURL *new_handle(void) {
  CURL *handle = curl_easy_init();
  long version = is_multiplexed ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, drop);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, drop);
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, version);
  curl_easy_setopt(handle, CURLOPT_PIPEWAIT, (long)is_multiplexed);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, 65536L);
  curl_easy_setopt(handle, CURLOPT_PROXY, "");
  if (trust) curl_easy_setopt(handle, CURLOPT_CAINFO, trust);
  CURLU *url = curl_url();
  curl_url_set(url, CURLUPART_URL, urls[0], 0);
  curl_easy_setopt(handle, CURLOPT_CURLU, url);
  curl_easy_setopt(handle, CURLOPT_PRIVATE, url);
  return handle;
}

/* All URLs are of one server, so that only the path has to be replaced. */
static void begin(CURLM *multi, CURL *handle, const char *url) {
  CURLU *parts;
  curl_easy_getinfo(handle, CURLINFO_PRIVATE, &parts);
  curl_url_set(parts, CURLUPART_PATH, strchr(strstr(url, "//") + 2, '/'), 0);
  curl_multi_add_handle(multi, handle);
}

/* Takes every second URL; answers how many were answered. */
static void *work(void *argument) {
  size_t next = (size_t)argument, active = 0, answered = 0;
  CURLM *multi = curl_multi_init();
  long connections = is_multiplexed ? 1 : (long)handle_count;
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections);
  for (; active < handle_count && next < url_count; active++, next += THREADS)
    begin(multi, new_handle(), urls[next]);
  while (active > 0) {
    int running, left;
    size_t before = answered;
    curl_multi_perform(multi, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
      CURL *handle = message->easy_handle;
      if (message->data.result != CURLE_OK) exit(1);
      answered++;
      curl_multi_remove_handle(multi, handle);
      if (next < url_count) {
        begin(multi, handle, urls[next]);
        next += THREADS;
      } else {
        active--;
      }
    }
    if (answered == before) curl_multi_poll(multi, NULL, 0, LONGEST_WAIT, NULL);
  }
  return (void *)answered;
}

static void read_list(const char *path) {
  FILE *file = fopen(path, "r");
  char line[4096];
  if (!file) exit(74);
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    if (url_count % 1024 == 0) urls = realloc(urls, (url_count + 1024) * sizeof *urls);
    urls[url_count++] = strdup(line);
  }
  fclose(file);
}

int main(int count, char **words) {
  if (count < 4) return 64;
  read_list(words[1]);
  handle_count = strtoul(words[2], NULL, 10);
  is_multiplexed = strcmp(words[3], "h2") == 0;
  if (count > 4 && *words[4]) trust = words[4];
  for (int index = 5; index < count; index++) headers = curl_slist_append(headers, words[index]);
  curl_global_init(CURL_GLOBAL_ALL);
  pthread_t threads[THREADS];
  size_t answered = 0;
  for (size_t number = 0; number < THREADS; number++)
    pthread_create(&threads[number], NULL, work, (void *)number);
  for (size_t number = 0; number < THREADS; number++) {
    void *result;
    pthread_join(threads[number], &result);
    answered += (size_t)result;
  }
  printf("%zu\n", answered);
  return answered == url_count ? 0 : 1;
}
