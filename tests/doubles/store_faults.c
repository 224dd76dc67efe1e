/* store_faults - SQLite's file accesses fail on command (base_sys.h), by a VFS in front of the
 * system's own. */
#include "store/store_internal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static sqlite3_vfs vfs;             /* the system's, but for xOpen and xDelete */
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

static int write_result(void) {
  return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int on_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 at) {
  return sct_fault(SCT_FAULT_DBWRITE) ? write_result()
                                      : real_of(file)->xWrite(file, data, bytes, at);
}

static int on_sync(sqlite3_file *file, int flags) {
  return sct_fault(SCT_FAULT_DBSYNC) ? SQLITE_IOERR_FSYNC : real_of(file)->xSync(file, flags);
}

static int on_read(sqlite3_file *file, void *out, int bytes, sqlite3_int64 at) {
  return sct_fault(SCT_FAULT_DBREAD) ? SQLITE_IOERR_READ
                                     : real_of(file)->xRead(file, out, bytes, at);
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 bytes) {
  return sct_fault(SCT_FAULT_DBWRITE) ? SQLITE_IOERR_TRUNCATE
                                      : real_of(file)->xTruncate(file, bytes);
}

static int on_size(sqlite3_file *file, sqlite3_int64 *bytes) {
  return sct_fault(SCT_FAULT_DBREAD) ? SQLITE_IOERR_FSTAT : real_of(file)->xFileSize(file, bytes);
}

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

void sct_store_faults_init(void) {
  original = sqlite3_vfs_find(NULL);
  if (original != NULL) {
    vfs = *original;
    vfs.zName = "sectile";
    vfs.pNext = NULL;
    vfs.xOpen = on_open;
    vfs.xDelete = on_delete;
    (void)sqlite3_vfs_register(&vfs, 1);
  }
}
