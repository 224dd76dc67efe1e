/* store_files - SQLite's file accesses, by a VFS in front of the system's own.
 *
 * A commit writes every page that it changed to the log (FILE-wal) in two pieces: 24 bytes about
 * it, and the page. While sct_store_gather() holds these pieces are put together and written at
 * once before the log is synced, which is before any reader is told of them. And in builds with
 * SCT_FAULTS every access can be made to fail (base_sys.h). */
#include "store/store_internal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static sqlite3_vfs vfs; /* the system's, but for xOpen, xDelete, and room behind files */
static const sqlite3_vfs *original; /* set once, before any file is opened */

/* SQLite's own files with other methods. The unix VFS has several tables of them (databases are
 * locked, logs are not): each is copied once. */
typedef struct methods {
  sqlite3_io_methods ours; /* first: a file's methods are also these */
  const sqlite3_io_methods *real;
} methods;

#define MAX_TABLES 4
static methods tables[MAX_TABLES];

static const sqlite3_io_methods *real_of(const sqlite3_file *file) {
  return ((const methods *)file->pMethods)->real;
}

/* What we keep of a file stands behind what the system's VFS does. */
typedef struct extra {
  bool is_log;
  sct_store_gathered *into; /* NULL: writes are not held back */
} extra;

static size_t extra_at(void) {
  const size_t unit = sizeof(void *);
  return ((size_t)original->szOsFile + unit - 1) / unit * unit;
}

static extra *extra_of(sqlite3_file *file) {
  return (extra *)(void *)((char *)file + extra_at());
}

static int write_result(void) {
  return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int write_now(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 at) {
  return sct_fault(SCT_FAULT_DBWRITE) ? write_result()
                                      : real_of(file)->xWrite(file, data, bytes, at);
}

/* ---- a commit's writes to the log */

/* Writes what is held back. If that fails it is gone, as is what a write of SQLite's own could not
 * write: the commit fails. */
static int flush(sqlite3_file *file) {
  sct_store_gathered *const g = extra_of(file)->into;
  if (g == NULL || g->n_bytes == 0) {
    return SQLITE_OK;
  }
  const int bytes = g->n_bytes;
  g->n_bytes = 0;
  return write_now(file, g->bytes, bytes, g->at);
}

static int on_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 at) {
  sct_store_gathered *const g = extra_of(file)->into;
  if (g != NULL && at == 0) {
    g->later = false;
  }
  if (g == NULL || bytes > (int)sizeof(g->bytes)) {
    const int result = flush(file);
    return result == SQLITE_OK ? write_now(file, data, bytes, at) : result;
  }
  if (at != g->at + g->n_bytes || bytes > (int)sizeof(g->bytes) - g->n_bytes) {
    const int result = flush(file);
    if (result != SQLITE_OK) {
      return result;
    }
    g->at = at;
  }
  memcpy(g->bytes + g->n_bytes, data, (size_t)bytes);
  g->n_bytes += bytes;
  return SQLITE_OK;
}

static int sync_now(sqlite3_file *file, int flags) {
  return sct_fault(SCT_FAULT_DBSYNC) ? SQLITE_IOERR_FSYNC : real_of(file)->xSync(file, flags);
}

/* With the sync the log has all of the commit, but for what SQLite may add to fill a sector: that
 * is not held back. A commit may leave it for later: SQLite itself does so where `synchronous` is
 * NORMAL, as it syncs the log before it copies anything from it to the database, and the header of
 * a log that begins anew, at its start, before the pages that follow. Both are done here too. */
static int on_sync(sqlite3_file *file, int flags) {
  sct_store_gathered *const g = extra_of(file)->into;
  const bool later = g != NULL && g->later;
  const int result = flush(file);
  extra_of(file)->into = NULL;
  if (result == SQLITE_OK && later) {
    g->owed = true;
    return SQLITE_OK;
  }
  return result == SQLITE_OK ? sync_now(file, flags) : result;
}

static int on_read(sqlite3_file *file, void *out, int bytes, sqlite3_int64 at) {
  const int result = flush(file);
  if (result != SQLITE_OK) {
    return result;
  }
  return sct_fault(SCT_FAULT_DBREAD) ? SQLITE_IOERR_READ
                                     : real_of(file)->xRead(file, out, bytes, at);
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 bytes) {
  const int result = flush(file);
  if (result != SQLITE_OK) {
    return result;
  }
  return sct_fault(SCT_FAULT_DBWRITE) ? SQLITE_IOERR_TRUNCATE
                                      : real_of(file)->xTruncate(file, bytes);
}

static int on_size(sqlite3_file *file, sqlite3_int64 *bytes) {
  const int result = flush(file);
  if (result != SQLITE_OK) {
    return result;
  }
  return sct_fault(SCT_FAULT_DBREAD) ? SQLITE_IOERR_FSTAT : real_of(file)->xFileSize(file, bytes);
}

/* The store's log; NULL: it is not written through these methods. */
static sqlite3_file *log_of(const sct_store *s) {
  sqlite3_file *log = NULL;
  (void)sqlite3_file_control(s->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  const bool ours = log != NULL && log->pMethods != NULL && log->pMethods->xWrite == on_write &&
                    extra_of(log)->is_log;
  return ours ? log : NULL;
}

void sct_store_gather(sct_store *s, bool later) {
  sqlite3_file *const log = log_of(s);
  if (log != NULL) {
    s->gathered.log = log;
    s->gathered.n_bytes = 0;
    s->gathered.later = later;
    extra_of(log)->into = &s->gathered;
  }
}

void sct_store_gather_end(sct_store *s) {
  if (s->gathered.log != NULL) {
    extra_of(s->gathered.log)->into = NULL;
    s->gathered.log = NULL;
  }
}

int sct_store_sync_log(sct_store *s) {
  sqlite3_file *const log = s->gathered.owed ? log_of(s) : NULL;
  const int result = log != NULL ? sync_now(log, SQLITE_SYNC_NORMAL) : SQLITE_OK;
  s->gathered.owed = result != SQLITE_OK;
  return result;
}

/* ---- the other accesses */

static int on_lock(sqlite3_file *file, int level) {
  return sct_fault(SCT_FAULT_DBREAD) ? SQLITE_IOERR_LOCK : real_of(file)->xLock(file, level);
}

static int on_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **out) {
  return sct_fault(SCT_FAULT_MMAP) ? SQLITE_IOERR_SHMMAP
                                   : real_of(file)->xShmMap(file, region, bytes, extend, out);
}

static void fill(methods *m, const sqlite3_io_methods *real) {
  m->real = real;
  m->ours = *real;
  m->ours.xRead = on_read;
  m->ours.xWrite = on_write;
  m->ours.xTruncate = on_truncate;
  m->ours.xSync = on_sync;
  m->ours.xLock = on_lock;
  m->ours.xFileSize = on_size;
  m->ours.xShmMap = on_map;
}

/* Our methods for those of a file; those themselves if there are more tables than we know of. */
static const sqlite3_io_methods *ours_for(const sqlite3_io_methods *real) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const sqlite3_io_methods *found = real;
  (void)pthread_mutex_lock(&lock);
  for (int k = 0; k < MAX_TABLES && found == real; k++) {
    if (tables[k].real == NULL) {
      fill(&tables[k], real);
    }
    found = tables[k].real == real ? &tables[k].ours : real;
  }
  (void)pthread_mutex_unlock(&lock);
  return found;
}

static int on_open(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags,
                   int *out_flags) {
  (void)self;
  if (sct_fault(SCT_FAULT_OPEN)) {
    file->pMethods = NULL;
    return SQLITE_CANTOPEN;
  }
  const int result =
      original->xOpen((sqlite3_vfs *)(uintptr_t)original, name, file, flags, out_flags);
  *extra_of(file) = (extra){.is_log = (flags & SQLITE_OPEN_WAL) != 0};
  if (file->pMethods != NULL) {
    file->pMethods = ours_for(file->pMethods);
  }
  return result;
}

static int on_delete(sqlite3_vfs *self, const char *name, int sync_folder) {
  (void)self;
  return sct_fault(SCT_FAULT_DBWRITE)
             ? SQLITE_IOERR_DELETE
             : original->xDelete((sqlite3_vfs *)(uintptr_t)original, name, sync_folder);
}

void sct_store_files_init(void) {
  original = sqlite3_vfs_find(NULL);
  if (original != NULL) {
    vfs = *original;
    vfs.zName = "sectile";
    vfs.szOsFile = (int)(extra_at() + sizeof(extra));
    vfs.pNext = NULL;
    vfs.xOpen = on_open;
    vfs.xDelete = on_delete;
    (void)sqlite3_vfs_register(&vfs, 1);
  }
}
