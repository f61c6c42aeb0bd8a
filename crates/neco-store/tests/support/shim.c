/* Stands between a test and the C library and lets writes fail below one folder. Loaded with LD_PRELOAD.
 *
 * NECO_SHIM_DIR   the folder
 * NECO_SHIM_ARM   a file that, whenever it is opened to be read, says what fails: "<number> <kind>". The so manieth write,
 *                 sync or truncation from now on fails; kinds are enospc and eio (they fail), short (half is
 *                 written, then the disk is full) and half (half is written, once). 0 disarms. The number of
 *                 calls since the last time goes into a file of the same name with ".count" behind it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *dir, *arm;
static size_t dir_len;
static long calls, fails_at;
static char kind[16] = "";
static int is_full;

__attribute__((constructor)) static void begin(void) {
    dir = getenv("NECO_SHIM_DIR");
    dir_len = dir ? strlen(dir) : 0;
    arm = getenv("NECO_SHIM_ARM");
}

static int is_ours(const char *path) {
    return dir && strncmp(path, dir, dir_len) == 0 && (path[dir_len] == '/' || path[dir_len] == 0);
}

/* The path of a descriptor, if it lies in our folder. */
static int ours(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length <= 0)
        return 0;
    path[length] = 0;
    return is_ours(path);
}

/* Whether this call fails, and how: 0 not at all, 1 whole, 2 after the first half. */
static int fails(void) {
    calls++;
    if (is_full)
        return 1;
    if (fails_at == 0 || calls != fails_at)
        return 0;
    if (strcmp(kind, "enospc") == 0)
        return is_full = 1;
    if (strcmp(kind, "short") == 0) {
        is_full = 1;
        return 2;
    }
    return strcmp(kind, "half") == 0 ? 2 : 1;
}

static int error_of_kind(void) { return strcmp(kind, "eio") == 0 ? EIO : ENOSPC; }

static void rearm(void) {
    char text[64] = "", count[32], name[PATH_MAX];
    int fd = syscall(SYS_openat, AT_FDCWD, arm, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0) {
        syscall(SYS_read, fd, text, sizeof text - 1);
        syscall(SYS_close, fd);
    }
    snprintf(name, sizeof name, "%s.count", arm);
    fd = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0) {
        int length = snprintf(count, sizeof count, "%ld", calls);
        syscall(SYS_write, fd, count, length);
        syscall(SYS_close, fd);
    }
    calls = 0;
    is_full = 0;
    kind[0] = 0;
    fails_at = 0;
    sscanf(text, "%ld %15s", &fails_at, kind);
}

static int opened(int at, const char *path, int flags, mode_t mode) {
    if (arm && (flags & O_ACCMODE) == O_RDONLY && strcmp(path, arm) == 0) {
        pthread_mutex_lock(&lock);
        rearm();
        pthread_mutex_unlock(&lock);
    }
    int is_new = (flags & O_CREAT) && is_ours(path) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
    if (!is_new)
        return syscall(SYS_openat, at, path, flags, mode);
    pthread_mutex_lock(&lock);
    int fd = -1;
    if (is_full)
        errno = ENOSPC;
    else
        fd = syscall(SYS_openat, at, path, flags, mode);
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                      \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;                                      \
        va_end(rest);                                                                                                  \
        return opened(AT_FDCWD, path, flags, mode);                                                                    \
    }
OPEN(open)
OPEN(open64)

static ssize_t written(int fd, const void *data, size_t length, off_t offset, int is_placed) {
    char path[PATH_MAX];
    int error = errno;
    if (!ours(fd, path)) {
        errno = error;
        return is_placed ? syscall(SYS_pwrite64, fd, data, length, offset) : syscall(SYS_write, fd, data, length);
    }
    pthread_mutex_lock(&lock);
    int how = fails();
    ssize_t done = -1;
    if (how == 1) {
        error = error_of_kind();
    } else {
        size_t part = how == 2 && length > 1 ? length / 2 : length;
        done = is_placed ? syscall(SYS_pwrite64, fd, data, part, offset) : syscall(SYS_write, fd, data, part);
        error = errno;
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

ssize_t write(int fd, const void *data, size_t length) { return written(fd, data, length, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return written(fd, data, length, offset, 1); }
ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { return written(fd, data, length, offset, 1); }

static int done_to(int fd, long call, off_t length) {
    char path[PATH_MAX];
    int error = errno;
    if (!ours(fd, path)) {
        errno = error;
        return call == SYS_ftruncate ? syscall(call, fd, length) : syscall(call, fd);
    }
    pthread_mutex_lock(&lock);
    int done = -1;
    /* Only a write can be done by half. */
    if (fails() && strcmp(kind, "half") != 0) {
        error = error_of_kind();
    } else {
        done = call == SYS_ftruncate ? syscall(call, fd, length) : syscall(call, fd);
        error = errno;
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

int fsync(int fd) { return done_to(fd, SYS_fsync, 0); }
int fdatasync(int fd) { return done_to(fd, SYS_fdatasync, 0); }
int ftruncate(int fd, off_t length) { return done_to(fd, SYS_ftruncate, length); }
int ftruncate64(int fd, off_t length) { return done_to(fd, SYS_ftruncate, length); }
