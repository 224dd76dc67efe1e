/* base_sys - the door to everything the system may refuse: files, processes, messages.
 *
 * Each is the system call of that name with one addition: a build with SCT_FAULTS (debug and test
 * builds, CMake option SECTILE_FAULTS) counts the calls by kind (base_faults.def), and the
 * environment variable SCT_FAULTS makes chosen ones fail before they reach the system:
 *
 *   KIND[@ROLE]:N[+][:ERRNO]   the N-th call of a kind in a process (with + all from it on) fails
 *                              with ENOSPC, EACCES, ...; several are split by commas
 *   once=FILE                  each fault once in all processes together: making FILE, which must
 *                              not be there, is the right to it
 *   count                      every process prints at its end how many calls of each kind it made
 *
 * A process has a role: main, worker, check, compile, ...; without @ROLE all are meant. What fails
 * is reported on stderr ("fault: ..."), and at the end how many blocks of memory are live. A
 * release build does not look at the variable. */
#ifndef SCT_BASE_SYS_H
#define SCT_BASE_SYS_H

#include <dirent.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef enum sct_fault_kind {
#define SCT_FAULT(id, name, reason) SCT_FAULT_##id,
#include "base_faults.def"
#undef SCT_FAULT
  SCT_N_FAULTS
} sct_fault_kind;

#ifdef SCT_FAULTS
/* Counts a call. true: it must fail; errno is set. */
bool sct_fault(sct_fault_kind kind);
/* Sets the role of this process, a string that outlives it; counts start at zero again. */
void sct_fault_role(const char *role);
/* Prints the counts if they are wanted, and how many blocks of memory are live if SCT_FAULTS is
 * set. exit() calls it, _exit() does not. */
void sct_fault_report(void);
void sct_fault_live(int change); /* changes the number of live blocks, mapped ones too */
#else
#define sct_fault(kind)      ((void)(kind), false)
#define sct_fault_role(role) ((void)(role))
#define sct_fault_report()   ((void)0)
#define sct_fault_live(n)    ((void)(n))
#endif

int sct_open(const char *path, int flags, mode_t mode);
int sct_openat(int dir, const char *path, int flags, mode_t mode);
int sct_mkostemp(char *pattern, int flags);
DIR *sct_opendir(const char *path);
ssize_t sct_read(int fd, void *out, size_t n);
ssize_t sct_write(int fd, const void *data, size_t n);
bool sct_write_all(int fd, const char *data, size_t n); /* errno is set where it fails */
int sct_fsync(int fd);
int sct_close(int fd); /* closes also when it is made to fail */
int sct_rename(const char *from, const char *to);
int sct_renameat(int from_dir, const char *from, int to_dir, const char *to);
int sct_mkdir(const char *path, mode_t mode);
int sct_mkdirat(int dir, const char *path, mode_t mode);
int sct_socketpair(int domain, int type, int fds[2]);
pid_t sct_fork(void);
int sct_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
              const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
int sct_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                      void *arg);
void *sct_map_shared(size_t bytes); /* anonymous, zeroed, shared with children; NULL on failure */
void *sct_map_sparse(size_t bytes); /* zeroed; what is not touched takes no memory */
void sct_map_forget(void *p, size_t bytes); /* of sct_map_sparse: zeroed again */
void sct_unmap(void *p, size_t bytes);      /* of sct_map_sparse; accepts NULL */

#endif
