/* store_open - which files are opened as a store, and how.
 *
 * A file is looked at before anything is written: one that is no store, is damaged or is newer than
 * this program stays byte for byte as it is. */
#include "store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  BUSY_TIMEOUT_MS = 10000,
  RETRY_MS = 20,
  /* The header of an SQLite file: https://www.sqlite.org/fileformat2.html, section 1.3. */
  HEADER_BYTES = 100,
  VERSION_AT = 60,
  APPLICATION_AT = 68
};

/* ---- what kind of file it is */

static sct_status refuse(const sct_store *s, const char *why, sct_error *err) {
  return sct_fail(err, SCT_EDATA, "'%s' is no store: %s; it was left as it is", s->path, why);
}

static sct_status check_identity(const sct_store *s, int64_t application, int64_t version,
                                 sct_error *err) {
  if (application != SCT_STORE_APPLICATION_ID) {
    return refuse(s, "it is a database of another program", err);
  }
  if (version > SCT_STORE_SCHEMA) {
    return sct_fail(err, SCT_EDATA,
                    "the store '%s' was written by a newer version of sectile (schema %lld, this "
                    "one reads up to %d); it was left as it is",
                    s->path, (long long)version, SCT_STORE_SCHEMA);
  }
  if (version < 1) {
    return refuse(s, "its schema has no version", err);
  }
  return SCT_OK;
}

static int64_t big_endian(const unsigned char *at) {
  return (int64_t)at[0] << 24 | (int64_t)at[1] << 16 | (int64_t)at[2] << 8 | (int64_t)at[3];
}

/* Reads the file's first bytes without SQLite, which may write to what it opens. *fresh: there is
 * no file, or it is empty. A file whose header names no program may be a store that was killed
 * while it was made: that is decided later. */
static sct_status check_header(const sct_store *s, bool *fresh, sct_error *err) {
  static const char magic[] = "SQLite format 3"; /* with its NUL */
  unsigned char header[HEADER_BYTES];
  struct stat st;
  *fresh = false;
  const int fd = sct_open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (fd < 0) {
    *fresh = errno == ENOENT;
    return *fresh
               ? SCT_OK
               : sct_fail(err, SCT_EIO, "cannot open the store '%s': %s", s->path, strerror(errno));
  }
  ssize_t n = -1;
  const bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
  if (regular) {
    n = sct_read(fd, header, sizeof(header));
  }
  const int reason = errno;
  (void)close(fd);
  if (!regular) {
    return refuse(s, "it is not a file", err);
  }
  if (n < 0) {
    return sct_fail(err, SCT_EIO, "cannot read the store '%s': %s", s->path, strerror(reason));
  }
  if (n == 0) {
    *fresh = true;
    return SCT_OK;
  }
  if (n < HEADER_BYTES || memcmp(header, magic, sizeof(magic)) != 0) {
    return refuse(s, "it is not an SQLite database", err);
  }
  const int64_t application = big_endian(header + APPLICATION_AT);
  return application == 0 ? SCT_OK
                          : check_identity(s, application, big_endian(header + VERSION_AT), err);
}

/* ---- connections */

static sct_status connect_to(sct_store *s, const char *name, int flags, sct_error *err) {
  const int result = sqlite3_open_v2(name, &s->db, flags, NULL);
  if (result != SQLITE_OK) {
    return sct_store_fail(s, result, "opening it", err);
  }
  (void)sqlite3_extended_result_codes(s->db, 1);
  (void)sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
  /* A file may come from someone else: nothing in its schema is to run code. */
  (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  (void)sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  return sct_store_exec(s, "PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON;", err);
}

/* To SQLite ":memory:" and "file:..." are more than names of files, unless a directory stands
 * there.
 */
static sct_status connect_file(sct_store *s, int flags, sct_error *err) {
  SCT_SCOPED(sct_str) name = {0};
  sct_str_printf(&name, "%s%s", s->path[0] == '/' ? "" : "./", s->path);
  return connect_to(s, name.data, flags, err);
}

/* Locks are what keeps two writers apart. To SQLite a file system that has none looks like a store
 * that is in use. Before anything of the store is locked: closing a file drops its locks. */
static sct_status check_locks(const sct_store *s, sct_error *err) {
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1}; /* SQLite's are far */
  const int fd = sct_open(s->path, O_RDONLY | O_CLOEXEC, 0);
  const bool none = fd >= 0 && fcntl(fd, F_SETLK, &lock) != 0 && errno != EACCES && errno != EAGAIN;
  const int reason = errno;
  if (fd >= 0) {
    (void)close(fd);
  }
  return none ? sct_fail(
                    err, SCT_EIO,
                    "the store '%s' is on a file system without locks (%s), where two programs "
                    "could damage it: keep it on a disk of this host, as in $TMPDIR or /scratch, "
                    "and copy it to its place when nothing uses it",
                    s->path, strerror(reason))
              : SCT_OK;
}

/* *fresh: an SQLite file in which nothing has been made yet. */
static sct_status identify(sct_store *s, bool *fresh, sct_error *err) {
  sct_id application = 0, version = 0, n_tables = 0;
  SCT_TRY(sct_store_query_ids(s, err, &application, 1, NULL, "PRAGMA application_id", ""));
  SCT_TRY(sct_store_query_ids(s, err, &version, 1, NULL, "PRAGMA user_version", ""));
  SCT_TRY(
      sct_store_query_ids(s, err, &n_tables, 1, NULL, "SELECT count(*) FROM sqlite_schema", ""));
  *fresh = application == 0 && version == 0 && n_tables == 0;
  s->schema = *fresh ? SCT_STORE_SCHEMA : (int)version;
  return *fresh ? SCT_OK : check_identity(s, application, version, err);
}

/* Calls identify() in a transaction of its own: another process may be making the store just now,
 * and the three readings must be of one moment. */
static sct_status identify_now(sct_store *s, bool *fresh, sct_error *err) {
  SCT_TRY(sct_store_exec(s, "BEGIN", err));
  const sct_status status = identify(s, fresh, err);
  sct_error second;
  const sct_status end = sct_store_exec(s, "ROLLBACK", &second);
  if (status == SCT_OK && end != SCT_OK) {
    return sct_fail(err, end, "%s", second.text);
  }
  return status;
}

/* A page that could not be had is no damage: SQLite says so in words only, with the result code. */
static int access_trouble(const char *text) {
  const char *const code = text != NULL ? strstr(text, "error code=") : NULL;
  const int result = code != NULL ? (int)strtol(code + strlen("error code="), NULL, 10) : 0;
  const int primary = result & 0xff;
  return primary == SQLITE_IOERR || primary == SQLITE_FULL || primary == SQLITE_CANTOPEN ||
                 primary == SQLITE_BUSY
             ? result
             : SQLITE_OK;
}

static sct_status quick_check(sct_store *s, sct_error *err) {
  SCT_SCOPED(sct_store_query) q = {0};
  bool row = false;
  SCT_TRY(sct_store_query_start(&q, s, err, "PRAGMA quick_check(1)", ""));
  SCT_TRY(sct_store_query_step(&q, &row, err));
  const char *const text = row ? (const char *)sqlite3_column_text(q.stmt, 0) : "ok";
  const int trouble = access_trouble(text);
  if (trouble != SQLITE_OK) {
    return sct_store_fail(s, trouble, "checking it", err);
  }
  if (text == NULL || strcmp(text, "ok") != 0) {
    return sct_fail(err, SCT_EDATA,
                    "the store '%s' is damaged (%s); it was left as it is: put a copy in its "
                    "place, or move it away to start anew",
                    s->path, text != NULL ? text : "no reason given");
  }
  return SCT_OK;
}

/* The tables first: checking the pages evaluates what stands in them. */
static sct_status check_contents(sct_store *s, sct_error *err) {
  SCT_TRY(sct_store_check_tables(s, err));
  SCT_TRY(quick_check(s, err));
  return sct_store_check_references(s, err);
}

/* ---- for reading */

/* A file that cannot be changed may be read without the files that WAL keeps next to it. */
static sct_status connect_immutable(sct_store *s, sct_error *err) {
  struct stat st;
  SCT_SCOPED(sct_str) name = {0};
  sct_str_printf(&name, "%s-wal", s->path);
  if (stat(sct_str_c(&name), &st) == 0 && st.st_size > 0) {
    return sct_fail(err, SCT_EIO,
                    "the store '%s' has changes in '%s-wal' that cannot be read without writing to "
                    "its directory: make the directory writable, or copy both files",
                    s->path, s->path);
  }
  sct_str_clear(&name);
  sct_str_append(&name, s->path[0] == '/' ? "file:" : "file:./");
  for (const char *at = s->path; *at != '\0'; ++at) {
    sct_str_printf(&name, strchr("%?#", *at) != NULL ? "%%%02X" : "%c", (unsigned)*at);
  }
  sct_str_append(&name, "?immutable=1");
  (void)sqlite3_close(s->db);
  s->db = NULL;
  return connect_to(s, name.data, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
}

/* Opened for writing where that is possible, so that closing it leaves no file beside the store. */
static sct_status open_for_reading(sct_store *s, sct_error *err) {
  bool fresh = false;
  SCT_TRY(check_header(s, &fresh, err));
  if (fresh) {
    return sct_fail(err, SCT_EIO, "there is no store '%s' yet: nothing has been tuned", s->path);
  }
  sct_status status = connect_file(s, SQLITE_OPEN_READWRITE, err);
  if (status == SCT_OK) {
    SCT_TRY(check_locks(s, err));
  }
  SCT_THEN(identify_now(s, &fresh, err));
  if (status == SCT_EIO) {
    SCT_TRY(connect_immutable(s, err));
    status = identify_now(s, &fresh, err);
  }
  if (status != SCT_OK) {
    return status;
  }
  if (fresh) {
    return sct_fail(err, SCT_EIO, "the store '%s' is empty: nothing has been tuned", s->path);
  }
  SCT_TRY(check_contents(s, err));
  return sct_store_exec(s, "PRAGMA query_only = ON", err);
}

/* ---- for writing */

/* Makes the tables of an empty file, or adds what came since the file's schema. Two processes may
 * want to: the second finds it done. */
static sct_status bring_up_to_date(sct_store *s, sct_error *err) {
  bool fresh = false;
  SCT_SCOPED(sct_str) sql = {0};
  SCT_TRY(sct_store_begin(s, err));
  sct_status status = identify(s, &fresh, err);
  if (status == SCT_OK && fresh) {
    sct_store_schema_sql(&sql);
  } else if (status == SCT_OK && s->schema < SCT_STORE_SCHEMA) {
    sct_store_upgrade_sql(&sql, s->schema);
  }
  if (sql.len > 0) {
    status = sct_store_exec(s, sct_str_c(&sql), err);
  }
  status = sct_store_end(s, status, err);
  s->schema = status == SCT_OK ? SCT_STORE_SCHEMA : s->schema;
  return status;
}

/* Changing the journal mode fails at once when another process holds the file: SQLite's busy
 * timeout does not cover it. Where WAL is not to be had (some network file systems) the rollback
 * journal stays, which is as safe and slower. */
static sct_status use_wal(sct_store *s, sct_error *err) {
  const struct timespec pause = {0, RETRY_MS * 1000000L};
  int result = SQLITE_BUSY;
  for (int waited_ms = 0; waited_ms <= BUSY_TIMEOUT_MS; waited_ms += RETRY_MS) {
    result = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    if ((result & 0xff) != SQLITE_BUSY) {
      break;
    }
    (void)nanosleep(&pause, NULL);
  }
  if (result != SQLITE_OK) {
    return sct_store_fail(s, result, "switching to WAL", err);
  }
  return sct_store_exec(s, "PRAGMA synchronous = FULL", err);
}

static sct_status make_directory(const sct_store *s, sct_error *err) {
  SCT_SCOPED(sct_str) directory = {0};
  sct_path_dirname(&directory, s->path);
  sct_status status = SCT_OK;
  if (sct_dir_make(directory.data, err) != SCT_OK) {
    status = sct_fail_prefix(err, SCT_EIO, "the store '%s': ", s->path);
  }
  return status;
}

/* Says what cannot be written, the file or its directory (WAL needs both). SCT_OK: neither is to
 * blame. */
static sct_status check_writable(const sct_store *s, sct_error *err) {
  sct_status status = SCT_OK;
  SCT_SCOPED(sct_str) directory = {0};
  sct_path_dirname(&directory, s->path);
  if (access(s->path, W_OK) != 0 && errno != ENOENT) {
    status =
        sct_fail(err, SCT_EIO, "the store '%s' cannot be written: %s", s->path, strerror(errno));
  } else if (access(sct_str_c(&directory), W_OK) != 0) {
    status = sct_fail(err, SCT_EIO, "the store '%s' cannot be written: its directory: %s", s->path,
                      strerror(errno));
  }
  return status;
}

static sct_status open_for_writing(sct_store *s, sct_error *err) {
  bool fresh = false;
  SCT_TRY(check_header(s, &fresh, err));
  if (fresh) {
    SCT_TRY(make_directory(s, err));
  }
  SCT_TRY(check_writable(s, err));
  SCT_TRY(connect_file(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err));
  SCT_TRY(check_locks(s, err));
  SCT_TRY(identify_now(s, &fresh, err));
  if (!fresh) {
    SCT_TRY(check_contents(s, err));
  }
  SCT_TRY(use_wal(s, err));
  return fresh || s->schema < SCT_STORE_SCHEMA ? bring_up_to_date(s, err) : SCT_OK;
}

sct_status sct_store_open(sct_store **out, const char *path, bool read_only, sct_error *err) {
  sct_store_memory_init();
  sct_store *const s = sct_alloc(sizeof(*s));
  s->path = sct_strdup(path);
  const sct_status status = read_only ? open_for_reading(s, err) : open_for_writing(s, err);
  if (status != SCT_OK) {
    sct_store_close(s);
    return status;
  }
  s->version = sct_store_version(s);
  *out = s;
  return SCT_OK;
}

void sct_store_close(sct_store *store) {
  if (store == NULL) {
    return;
  }
  (void)sqlite3_close(store->db);
  sct_arena_free(&store->scratch);
  sct_free(store->path);
  sct_free(store);
}
