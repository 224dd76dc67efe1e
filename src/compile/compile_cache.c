/* compile_cache - compiled kernels on disk, by content.
 *
 *   <dir>/objects/<hash>.cubin, <hash>.ptx   one pair a program, named by the hash of their bytes
 *   <dir>/entries/<key>.entry                one a kernel: which objects, its name, its figures
 *   <dir>/new/<process>-<n>                  being written; what a dead process left is removed
 *
 * Nothing in it is trusted: directories must belong to this user and nobody else may write there,
 * files are opened without following links, and every byte is checked against a hash. What does not
 * check is a miss. For the same reason files are renamed into place but not synced: after a power
 * failure a torn file is a miss too. */
#include "compile/compile_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRY_MAGIC "sectile-entry 2"
enum { MAX_FILE_BYTES = 256 << 20, NAME_BYTES = SCT_HASH_HEX + 16 };

/* ---- directories */

/* Opens a directory that is ours alone. `parent` AT_FDCWD: `name` is the cache directory itself,
 * which may be reached through links of its owner; the directories inside may not. */
static int open_private(int parent, const char *name, const char **why) {
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (parent == AT_FDCWD ? 0 : O_NOFOLLOW);
  const int fd = sct_openat(parent, name, flags, 0);
  if (fd < 0) {
    *why = strerror(errno);
    return -1;
  }
  struct stat st;
  if (fstat(fd, &st) != 0 || st.st_uid != geteuid()) {
    *why = "it belongs to another user";
  } else if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    *why = "other users may write to it";
  } else {
    return fd;
  }
  (void)close(fd);
  return -1;
}

static int open_sub(int parent, const char *name, const char **why) {
  if (sct_mkdirat(parent, name, S_IRWXU) != 0 && errno != EEXIST) {
    *why = strerror(errno);
    return -1;
  }
  return open_private(parent, name, why);
}

/* A directory can be ours and still refuse new files: a read-only file system, for one. */
static bool can_write(int fd, const char **why) {
  if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0) {
    return true;
  }
  *why = strerror(errno);
  return false;
}

/* Removes what processes left that were killed while they wrote. */
static void sweep(int new_fd) {
  const int fd = sct_openat(new_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  DIR *const dir = fd >= 0 ? fdopendir(fd) : NULL;
  if (dir == NULL) {
    if (fd >= 0) {
      (void)close(fd);
    }
    return;
  }
  for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
    const long process = strtol(e->d_name, NULL, 10);
    if (process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH) {
      (void)unlinkat(new_fd, e->d_name, 0);
    }
  }
  (void)closedir(dir);
}

void sct_compile_cache_open(sct_compile_cache *cache, const char *dir) {
  const char *why = NULL;
  sct_error err = {0};
  *cache = (sct_compile_cache){.objects_fd = -1, .entries_fd = -1, .new_fd = -1};
  if (dir == NULL) {
    return;
  }
  if (sct_dir_make(dir, &err) != SCT_OK) {
    sct_log(SCT_LOG_WARN, "compiled kernels are not cached: %s", err.text);
    return;
  }
  const int top = open_private(AT_FDCWD, dir, &why);
  if (top >= 0) {
    cache->objects_fd = open_sub(top, "objects", &why);
    cache->entries_fd = cache->objects_fd >= 0 ? open_sub(top, "entries", &why) : -1;
    cache->new_fd = cache->entries_fd >= 0 ? open_sub(top, "new", &why) : -1;
    (void)close(top);
  }
  if (cache->new_fd < 0 || !can_write(cache->objects_fd, &why) ||
      !can_write(cache->entries_fd, &why)) {
    sct_log(SCT_LOG_WARN, "compiled kernels are not cached: cannot use the directory %s: %s", dir,
            why);
    sct_compile_cache_close(cache);
    return;
  }
  sweep(cache->new_fd);
  cache->writable = true;
}

void sct_compile_cache_close(sct_compile_cache *cache) {
  int *const directories[] = {&cache->objects_fd, &cache->entries_fd, &cache->new_fd};
  for (int k = 0; k < SCT_COUNT(directories); ++k) {
    if (*directories[k] >= 0) {
      (void)close(*directories[k]);
    }
    *directories[k] = -1;
  }
}

/* ---- files */

static char *file_name(char out[NAME_BYTES], sct_hash hash, const char *suffix) {
  char hex[SCT_HASH_HEX];
  (void)snprintf(out, NAME_BYTES, "%s%s", sct_hash_hex(hex, hash), suffix);
  return out;
}

/* Reads a regular file of ours into memory from sct_alloc, with a NUL after its bytes. NULL: not
 * there or not fit. */
static char *read_file(int dir, const char *name, size_t *bytes) {
  char *data = NULL;
  size_t got = 0;
  struct stat st;
  const int fd = sct_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
  if (fd < 0) {
    return NULL;
  }
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_size < 1 ||
      st.st_size > MAX_FILE_BYTES) {
    goto done;
  }
  const size_t size = (size_t)st.st_size;
  data = sct_alloc(size + 1);
  while (got < size) {
    const ssize_t n = sct_read(fd, data + got, size - got);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      sct_free(data);
      data = NULL;
      break;
    }
    got += (size_t)n;
  }
done:
  (void)close(fd);
  *bytes = got;
  return data;
}

/* Writes under a name of its own, then renames: a reader sees the whole file or none. */
static void write_file(sct_compile_cache *cache, int dir, const char *name, const char *data,
                       size_t bytes) {
  char temporary[64];
  (void)snprintf(temporary, sizeof(temporary), "%ld-%u", (long)getpid(), cache->n_temporary++);
  int fd = sct_openat(cache->new_fd, temporary,
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST) { /* left by a process that died under our number */
    (void)unlinkat(cache->new_fd, temporary, 0);
    fd = sct_openat(cache->new_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0600);
  }
  bool good = fd >= 0 && sct_write_all(fd, data, bytes);
  int reason = errno;
  if (fd >= 0 && sct_close(fd) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && sct_renameat(cache->new_fd, temporary, dir, name) != 0) {
    good = false;
    reason = errno;
  }
  if (good) {
    return;
  }
  if (fd >= 0) {
    (void)unlinkat(cache->new_fd, temporary, 0);
  }
  if (cache->writable) {
    cache->writable = false;
    sct_log(SCT_LOG_WARN, "compiled kernels are no longer cached: %s", strerror(reason));
  }
}

/* ---- objects */

/* A file whose bytes do not have the hash in its name is removed. */
static char *read_object_file(const sct_compile_cache *cache, sct_hash hash, const char *suffix,
                              size_t *bytes) {
  char name[NAME_BYTES];
  char *data = read_file(cache->objects_fd, file_name(name, hash, suffix), bytes);
  if (data != NULL && !sct_hash_equal(sct_hash_bytes(data, *bytes), hash)) {
    (void)unlinkat(cache->objects_fd, name, 0);
    sct_free(data);
    data = NULL;
  }
  return data;
}

static sct_compile_object *load_object(const sct_compile_cache *cache, sct_compile_object **objects,
                                       sct_hash cubin_hash, sct_hash ptx_hash) {
  sct_compile_object *const known = sct_compile_objects_find(*objects, cubin_hash, ptx_hash);
  size_t cubin_bytes = 0, ptx_bytes = 0;
  if (known != NULL) {
    return known;
  }
  char *const cubin = read_object_file(cache, cubin_hash, ".cubin", &cubin_bytes);
  char *const ptx = cubin != NULL ? read_object_file(cache, ptx_hash, ".ptx", &ptx_bytes) : NULL;
  if (ptx == NULL) {
    sct_free(cubin);
    return NULL;
  }
  return sct_compile_objects_add(objects, cubin, cubin_bytes, ptx);
}

void sct_compile_cache_put_object(sct_compile_cache *cache, const sct_compile_object *object) {
  char name[NAME_BYTES];
  if (!cache->writable) {
    return;
  }
  write_file(cache, cache->objects_fd, file_name(name, object->cubin_hash, ".cubin"), object->cubin,
             object->cubin_bytes);
  write_file(cache, cache->objects_fd, file_name(name, object->ptx_hash, ".ptx"), object->ptx,
             strlen(object->ptx));
}

/* ---- entries: lines of "word value", the last of them the hash of all before it */

#define HASH_FORMAT "%016" PRIx64 "%016" PRIx64
#define HASH_SCAN   "%16" SCNx64 "%16" SCNx64

void sct_compile_cache_put_entry(sct_compile_cache *cache, sct_hash key,
                                 const sct_compiled *compiled) {
  const sct_compile_object *const object = compiled->object;
  if (!cache->writable) {
    return;
  }
  SCT_SCOPED(sct_str) text = {0};
  sct_str_printf(&text, "%s\nkey " HASH_FORMAT "\n", ENTRY_MAGIC, key.hi, key.lo);
  sct_str_printf(&text, "cubin " HASH_FORMAT "\nptx " HASH_FORMAT "\n", object->cubin_hash.hi,
                 object->cubin_hash.lo, object->ptx_hash.hi, object->ptx_hash.lo);
  sct_str_printf(&text, "code " HASH_FORMAT "\n", compiled->code_hash.hi, compiled->code_hash.lo);
  sct_str_printf(&text, "figures %d %d %d %d %d\n", compiled->registers, compiled->spill_load_bytes,
                 compiled->spill_store_bytes, compiled->stack_bytes, compiled->static_shared_bytes);
  sct_str_printf(&text, "entry %s\n", compiled->entry);
  const sct_hash check = sct_hash_bytes(text.data, text.len);
  sct_str_printf(&text, "check " HASH_FORMAT "\n", check.hi, check.lo);
  char name[NAME_BYTES];
  write_file(cache, cache->entries_fd, file_name(name, key, ".entry"), text.data, text.len);
}

/* Is the last line the hash of what stands before it? Cuts it off. */
static bool check_entry(char *text) {
  char *const last = strstr(text, "\ncheck ");
  sct_hash stored;
  if (last == NULL || sscanf(last, "\ncheck " HASH_SCAN, &stored.hi, &stored.lo) != 2) {
    return false;
  }
  last[1] = '\0';
  return sct_hash_equal(stored, sct_hash_bytes(text, (size_t)(last + 1 - text)));
}

static bool parse_entry(char *text, sct_hash *key, sct_compiled *out) {
  int at = 0;
  if (!check_entry(text) ||
      sscanf(text,
             ENTRY_MAGIC " key " HASH_SCAN " cubin " HASH_SCAN " ptx " HASH_SCAN " code " HASH_SCAN
                         " figures %d %d %d %d %d entry %n",
             &key->hi, &key->lo, &out->cubin_hash.hi, &out->cubin_hash.lo, &out->ptx_hash.hi,
             &out->ptx_hash.lo, &out->code_hash.hi, &out->code_hash.lo, &out->registers,
             &out->spill_load_bytes, &out->spill_store_bytes, &out->stack_bytes,
             &out->static_shared_bytes, &at) != 13 ||
      at == 0) {
    return false;
  }
  text[strlen(text) - 1] = '\0'; /* the newline after the entry's name */
  out->entry = sct_strdup(text + at);
  return true;
}

bool sct_compile_cache_get(sct_compile_cache *cache, sct_compile_object **objects, sct_hash key,
                           sct_compiled *out) {
  if (cache->entries_fd < 0) {
    return false;
  }
  char file[NAME_BYTES];
  size_t bytes = 0;
  char *const text = read_file(cache->entries_fd, file_name(file, key, ".entry"), &bytes);
  sct_hash stored_key = {0, 0};
  sct_compile_object *object = NULL;
  sct_compiled found = {.ok = true, .from_cache = true};
  if (text != NULL && parse_entry(text, &stored_key, &found) && sct_hash_equal(stored_key, key)) {
    object = load_object(cache, objects, found.cubin_hash, found.ptx_hash);
  }
  sct_free(text);
  if (object == NULL) {
    sct_free(found.entry);
    return false;
  }
  sct_compile_object_hold(&found, object);
  sct_compile_object_release(object);
  *out = found;
  return true;
}
