// Wrappers of curl's variadic functions, one per argument type, since Swift cannot import them.
#pragma once
#include <curl/curl.h>

typedef size_t (*prefetch_curl_write_callback)(char *, size_t, size_t, void *);
typedef int (*prefetch_curl_progress_callback)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
typedef CURLcode (*prefetch_curl_ssl_callback)(CURL *, void *, void *);

static inline CURLcode prefetch_curl_setopt_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode prefetch_curl_setopt_offset(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode prefetch_curl_setopt_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode prefetch_curl_setopt_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode prefetch_curl_setopt_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode prefetch_curl_setopt_write(CURL *handle, CURLoption option, prefetch_curl_write_callback value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode prefetch_curl_setopt_seek(CURL *handle, curl_seek_callback value) {
  return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, value);
}
static inline CURLcode prefetch_curl_setopt_progress(CURL *handle, prefetch_curl_progress_callback value) {
  return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
}
static inline CURLcode prefetch_curl_setopt_prerequest(CURL *handle, curl_prereq_callback value) {
  return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLcode prefetch_curl_setopt_ssl_context(CURL *handle, prefetch_curl_ssl_callback value) {
  return curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, value);
}
static inline CURLcode prefetch_curl_setopt_open_socket(CURL *handle, curl_opensocket_callback value) {
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode prefetch_curl_setopt_close_socket(CURL *handle, curl_closesocket_callback value) {
  return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}
static inline CURLcode prefetch_curl_setopt_share(CURL *handle, CURLSH *value) {
  return curl_easy_setopt(handle, CURLOPT_SHARE, value);
}
static inline CURLSHcode prefetch_curl_share_connections(CURLSH *share) {
  return curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
}
static inline CURLcode prefetch_curl_setopt_debug(CURL *handle, curl_debug_callback value) {
  return curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, value);
}
static inline CURLcode prefetch_curl_getinfo_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode prefetch_curl_getinfo_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode prefetch_curl_getinfo_string(CURL *handle, CURLINFO info, const char **value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode prefetch_curl_getinfo_pointer(CURL *handle, CURLINFO info, void **value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLMcode prefetch_curl_multi_setopt_long(CURLM *handle, CURLMoption option, long value) {
  return curl_multi_setopt(handle, option, value);
}
// Members of anonymous unions are easier to name in C than in Swift.
static inline CURLcode prefetch_curl_message_result(const CURLMsg *message) {
  return message->data.result;
}
// CURLVERSION_NOW is a macro of an enumeration constant, which Swift cannot import.
static inline curl_version_info_data *prefetch_curl_version_info(void) {
  return curl_version_info(CURLVERSION_NOW);
}
