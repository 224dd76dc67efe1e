/* Messages: a body that grows as it is written, and frames that arrive whole or not at all. */
#include "process/process_internal.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* ---- bodies ---- */

/* Room for n more bytes and a NUL. */
static bool reserve(sct_wire *w, size_t n) {
  w->too_large =
      w->too_large || n > SCT_WIRE_MAX_BYTES || w->len > SCT_WIRE_MAX_BYTES - (uint64_t)n;
  if (w->failed || w->too_large) {
    w->failed = true;
    return false;
  }
  const size_t need = w->len + n + 1;
  if (need > w->cap) {
    size_t cap = w->cap < 256 ? 256 : w->cap;
    while (cap < need) {
      cap *= 2;
    }
    w->data = sct_realloc(w->data, cap);
    w->cap = cap;
  }
  return true;
}

static void put(sct_wire *w, const void *bytes, size_t n) {
  if (reserve(w, n)) {
    if (n > 0) {
      memcpy(w->data + w->len, bytes, n);
    }
    w->len += n;
    w->data[w->len] = 0;
  }
}

void sct_wire_clear(sct_wire *w) {
  sct_arena_free(&w->arena);
  w->len = w->at = 0;
  w->failed = w->too_large = false;
}

void sct_wire_free(sct_wire *w) {
  sct_free(w->data);
  sct_arena_free(&w->arena);
  *w = (sct_wire){0};
}

void sct_wire_put_i64(sct_wire *w, int64_t value) {
  put(w, &value, sizeof value);
}

void sct_wire_put_raw(sct_wire *w, const void *bytes, size_t n) {
  put(w, bytes, n);
}

void sct_wire_put_bytes(sct_wire *w, const void *bytes, size_t n) {
  sct_wire_put_i64(w, (int64_t)n);
  put(w, bytes, n);
}

void sct_wire_put_text(sct_wire *w, const char *text) {
  sct_wire_put_bytes(w, text, strlen(text) + 1);
}

static void get(sct_wire *w, void *out, size_t n) {
  if (w->failed || n > w->len - w->at) {
    w->failed = true;
    memset(out, 0, n);
    return;
  }
  memcpy(out, w->data + w->at, n);
  w->at += n;
}

int64_t sct_wire_get_i64(sct_wire *w) {
  int64_t value;
  get(w, &value, sizeof value);
  return value;
}

const void *sct_wire_get_raw(sct_wire *w, size_t n) {
  static const uint8_t nothing[1];
  if (w->failed || n > w->len - w->at) {
    w->failed = true;
    return nothing;
  }
  const uint8_t *bytes = w->data + w->at;
  w->at += n;
  return n > 0 ? bytes : nothing;
}

const uint8_t *sct_wire_get_bytes(sct_wire *w, size_t *n) {
  const int64_t count = sct_wire_get_i64(w); /* below 0: more than there is */
  const uint8_t *bytes = sct_wire_get_raw(w, (size_t)count);
  *n = w->failed ? 0 : (size_t)count;
  return bytes;
}

const char *sct_wire_get_text(sct_wire *w) {
  size_t n = 0;
  const char *text = (const char *)sct_wire_get_bytes(w, &n);
  if (n == 0 || text[n - 1] != '\0') {
    w->failed = true;
    return "";
  }
  return text;
}

/* ---- frames ---- */

static sct_io wait_ready(int fd, short events, int64_t deadline_ns) {
  for (;;) {
    int timeout_ms = -1;
    if (deadline_ns != SCT_NO_DEADLINE) {
      const int64_t left = deadline_ns - sct_now_ns();
      if (left <= 0) {
        return SCT_IO_TIMEOUT;
      }
      timeout_ms = left / 1000000 >= 60000 ? 60000 : (int)(left / 1000000) + 1;
    }
    struct pollfd p = {.fd = fd, .events = events};
    const int n = poll(&p, 1, timeout_ms);
    if (n > 0) {
      return SCT_IO_OK; /* readable, writable, or closed: the call that follows tells which */
    }
    if (n < 0 && errno != EINTR) {
      return SCT_IO_CLOSED;
    }
  }
}

/* Header and body go together, so that who waits for them wakes up once. */
static sct_io send_all(int fd, struct iovec parts[2], int64_t deadline_ns) {
  while (parts[0].iov_len + parts[1].iov_len > 0) {
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    const ssize_t done =
        sct_fault(SCT_FAULT_SEND) ? -1 : sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done > 0) {
      size_t left = (size_t)done;
      for (int k = 0; left > 0; k++) {
        const size_t n = left < parts[k].iov_len ? left : parts[k].iov_len;
        parts[k].iov_base = (uint8_t *)parts[k].iov_base + n;
        parts[k].iov_len -= n;
        left -= n;
      }
    } else if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      const sct_io io = wait_ready(fd, POLLOUT, deadline_ns);
      if (io != SCT_IO_OK) {
        return io;
      }
    } else if (done == 0 || errno != EINTR) {
      return SCT_IO_CLOSED;
    }
  }
  return SCT_IO_OK;
}

static sct_io recv_all(int fd, uint8_t *bytes, size_t n, int64_t deadline_ns) {
  while (n > 0) {
    const ssize_t done = sct_fault(SCT_FAULT_RECV) ? -1 : recv(fd, bytes, n, MSG_DONTWAIT);
    if (done > 0) {
      bytes += done;
      n -= (size_t)done;
    } else if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      const sct_io io = wait_ready(fd, POLLIN, deadline_ns);
      if (io != SCT_IO_OK) {
        return io;
      }
    } else if (done == 0 || errno == ECONNRESET) {
      return SCT_IO_CLOSED;
    } else if (errno != EINTR) {
      return SCT_IO_FAILED;
    }
  }
  return SCT_IO_OK;
}

#define MAGIC 0 /* what is something else is not our protocol */

typedef struct header {
  uint32_t code, magic;
  uint64_t len; /* of the body */
} header;
_Static_assert(sizeof(header) == SCT_WIRE_HEADER_BYTES, "a header has no gaps");

sct_io sct_wire_send(int fd, uint32_t code, const sct_wire *body, int64_t deadline_ns) {
  header head = {code, MAGIC, body ? body->len : 0};
  if (body && body->failed) {
    return body->too_large ? SCT_IO_TOO_LARGE : SCT_IO_REFUSED;
  }
  struct iovec parts[2] = {{&head, sizeof head}, {body ? body->data : NULL, body ? body->len : 0}};
  return send_all(fd, parts, deadline_ns);
}

sct_io sct_wire_recv(int fd, uint32_t *code, sct_wire *body, int64_t deadline_ns) {
  header head;
  sct_wire_clear(body);
  const sct_io io = recv_all(fd, (uint8_t *)&head, sizeof head, deadline_ns);
  if (io != SCT_IO_OK) {
    return io;
  }
  *code = head.code;
  if (head.magic != MAGIC || head.len > SCT_WIRE_MAX_BYTES) {
    return SCT_IO_NONSENSE;
  }
  (void)reserve(body, (size_t)head.len);
  body->len = (size_t)head.len;
  body->data[head.len] = 0;
  return recv_all(fd, body->data, (size_t)head.len, deadline_ns);
}
