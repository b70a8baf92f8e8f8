/* A host that is far away: passes TCP connections on to a port of this machine, each byte later, both
   ways, and caps the rate at which each connection brings bytes to its client.

   The kernel's handshake on loopback takes no time, so the first bytes of a client wait for the round
   trip that it would have taken. TCP's slow start and losses are not simulated.

   far SERVER-PORT MILLISECONDS-EACH-WAY [BITS-PER-SECOND]; prints the port that it listens on. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* PIECE is the most that is read at once, HELD_MOST the most that waits in one direction; reading stops
   when a capped line is AHEAD behind, and goes on at half of that. */
enum { PIECE = 64 << 10, HELD_MOST = 16 << 20, EVENTS = 256 };
static const int64_t MILLISECOND = 1000000, AHEAD = 100 * 1000000LL;

/* Bytes that arrive at `due`; none stand for the end of the stream. */
typedef struct Piece {
  struct Piece *next;
  int64_t due;
  size_t length, sent;
  char bytes[];
} Piece;

struct Connection;

/* One socket, and the bytes that wait to be sent to it. */
typedef struct {
  struct Connection *owner;
  int socket, has_ended, is_blocked;
  uint32_t interest;
  Piece *first, **last;
  size_t held;
  int64_t free_at; /* when the line to it can take the next byte */
  double per_byte; /* nanoseconds that a byte takes on that line */
} End;

typedef struct Connection {
  struct Connection *next;
  End client, server;
  int64_t begun;
  int is_broken;
} Connection;

static Connection *connections;
static int poller;
static int64_t delay, now;
static struct sockaddr_in origin;

static void require(int is_so, const char *deed) {
  if (is_so) return;
  perror(deed);
  exit(1);
}

static int64_t clock_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 * MILLISECOND + time.tv_nsec;
}

static End *other(End *end) {
  return end == &end->owner->client ? &end->owner->server : &end->owner->client;
}

/* Waits for what the socket has and the other end can hold, and for room where bytes are stuck. */
static void watch(End *end) {
  End *to = other(end);
  int64_t ahead = to->per_byte > 0 ? to->free_at - now : 0;
  int64_t ahead_most = end->interest & EPOLLIN ? AHEAD : AHEAD / 2;
  int is_reading = !end->has_ended && to->held < HELD_MOST && ahead < ahead_most;
  uint32_t interest = (is_reading ? EPOLLIN : 0) | (end->is_blocked ? EPOLLOUT : 0);
  if (interest == end->interest) return;
  struct epoll_event event = {.events = interest, .data.ptr = end};
  int change = !end->interest ? EPOLL_CTL_ADD : interest ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
  require(epoll_ctl(poller, change, end->socket, &event) == 0, "epoll_ctl");
  end->interest = interest;
}

static void receive(End *from) {
  static char bytes[PIECE];
  End *to = other(from);
  ssize_t count = recv(from->socket, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count < 0) count = 0;
  from->has_ended = count == 0;
  Piece *piece = malloc(sizeof *piece + (size_t)count);
  require(piece != NULL, "malloc");
  *piece = (Piece){.length = (size_t)count};
  memcpy(piece->bytes, bytes, (size_t)count);
  if (to->free_at < now) to->free_at = now;
  to->free_at += (int64_t)(to->per_byte * (double)count);
  piece->due = to->free_at + delay;
  *to->last = piece;
  to->last = &piece->next;
  to->held += piece->length;
}

/* Sends what has arrived by now. */
static void deliver(End *to) {
  for (Piece *piece; !to->is_blocked && (piece = to->first) && piece->due <= now;) {
    if (piece->length == 0) shutdown(to->socket, SHUT_WR);
    int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    ssize_t count = piece->length
        ? send(to->socket, piece->bytes + piece->sent, piece->length - piece->sent, flags) : 0;
    if (count < 0 && errno != EAGAIN) to->owner->is_broken = 1;
    if (count < 0 || (piece->sent += (size_t)count) < piece->length) {
      to->is_blocked = 1;
      return;
    }
    to->held -= piece->length;
    to->first = piece->next;
    if (!to->first) to->last = &to->first;
    free(piece);
  }
}

static void open_end(End *end, Connection *owner, int socket, int64_t free_at, double per_byte) {
  int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  *end = (End){.owner = owner, .socket = socket, .free_at = free_at, .per_byte = per_byte};
  end->last = &end->first;
}

static void welcome(int listener, double per_byte) {
  int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (client < 0) return;
  int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(connect(server, (struct sockaddr *)&origin, sizeof origin) == 0, "connect");
  Connection *made = calloc(1, sizeof *made);
  require(made != NULL, "calloc");
  open_end(&made->client, made, client, now, per_byte);
  open_end(&made->server, made, server, now + 2 * delay, 0);
  made->next = connections;
  connections = made;
}

static void close_end(End *end) {
  close(end->socket);
  for (Piece *piece; (piece = end->first); free(piece)) end->first = piece->next;
}

/* Sends what is due, drops what has ended, and returns how many milliseconds nothing is due. */
static int advance(void) {
  int64_t next = now + 1000 * MILLISECOND;
  for (Connection **place = &connections, *each; (each = *place);) {
    End *ends[] = {&each->client, &each->server};
    for (int number = 0; number < 2; number++) deliver(ends[number]);
    int is_over = each->client.has_ended && each->server.has_ended && !each->client.first &&
                  !each->server.first;
    if (is_over || each->is_broken) {
      *place = each->next;
      close_end(&each->client);
      close_end(&each->server);
      free(each);
      continue;
    }
    for (int number = 0; number < 2; number++) {
      End *end = ends[number];
      watch(end);
      int64_t resumed = end->per_byte > 0 ? end->free_at - AHEAD / 2 + MILLISECOND : 0;
      if (resumed > now && resumed < next) next = resumed;
      if (end->first && !end->is_blocked && end->first->due < next) next = end->first->due;
    }
    place = &each->next;
  }
  return (int)((next - now + MILLISECOND - 1) / MILLISECOND);
}

int main(int count, char **words) {
  if (count < 3) return 64;
  origin = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  delay = (int64_t)(atof(words[2]) * (double)MILLISECOND);
  double per_byte = count > 3 && atof(words[3]) > 0 ? 8e9 / atof(words[3]) : 0;
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof here;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  require(bind(listener, (struct sockaddr *)&here, size) == 0 && listen(listener, 4096) == 0, "listen");
  getsockname(listener, (struct sockaddr *)&here, &size);
  printf("%d\n", ntohs(here.sin_port));
  fflush(stdout);
  poller = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event arrival = {.events = EPOLLIN}, events[EVENTS];
  require(epoll_ctl(poller, EPOLL_CTL_ADD, listener, &arrival) == 0, "epoll_ctl");
  for (;;) {
    now = clock_now();
    int found = epoll_wait(poller, events, EVENTS, advance());
    now = clock_now();
    for (int number = 0; number < found; number++) {
      End *end = events[number].data.ptr;
      if (!end) {
        welcome(listener, per_byte);
        continue;
      }
      if (events[number].events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) end->is_blocked = 0;
      if (events[number].events & (EPOLLIN | EPOLLERR | EPOLLHUP) && !end->has_ended) receive(end);
    }
  }
}
