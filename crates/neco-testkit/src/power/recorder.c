/* Runs a program and records what it does to the files below one folder, in order:
 *
 *     recorder FOLDER LOG PROGRAM ARGUMENTS…
 *
 * It stands between the program and the system, not between the program and the C library: whoever calls the
 * system by themselves is seen too. A record is a letter, a path, a number and bytes:
 *
 * C made, W bytes written at an offset, T cut or grown to a length, S synced, A everything synced, U name removed,
 * D folder removed, R renamed (bytes: to), L one more name (bytes: to), M folder made, Y link made (bytes: to where).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* In this order: the one of the C library first. */
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_THREADS 256

struct thread {
    pid_t id;
    /* The call that it is in, and what was known when it began. */
    uint64_t number, args[6];
    char path[PATH_MAX], to[PATH_MAX];
    int was_there;
};

static struct thread threads[MOST_THREADS];
static const char *folder;
static size_t folder_length;
static FILE *record_file;

static struct thread *thread_of(pid_t id, int *is_new) {
    struct thread *spare = NULL;
    *is_new = 0;
    for (int i = 0; i < MOST_THREADS; i++) {
        if (threads[i].id == id)
            return &threads[i];
        if (threads[i].id == 0 && !spare)
            spare = &threads[i];
    }
    if (!spare)
        exit(3);
    memset(spare, 0, sizeof *spare);
    spare->id = id;
    *is_new = 1;
    return spare;
}

static int is_ours(const char *path) {
    return strncmp(path, folder, folder_length) == 0 && (path[folder_length] == '/' || path[folder_length] == 0);
}

static void note(char what, const char *path, uint64_t number, const void *bytes, uint32_t length) {
    uint32_t path_length = strlen(path);
    fputc(what, record_file);
    fwrite(&path_length, 4, 1, record_file);
    fwrite(path, 1, path_length, record_file);
    fwrite(&number, 8, 1, record_file);
    fwrite(&length, 4, 1, record_file);
    fwrite(bytes, 1, length, record_file);
}

static size_t read_memory(pid_t id, uint64_t from, void *into, size_t length) {
    struct iovec local = {into, length}, remote = {(void *)(uintptr_t)from, length};
    ssize_t done = process_vm_readv(id, &local, 1, &remote, 1, 0);
    return done < 0 ? 0 : (size_t)done;
}

static void read_string(pid_t id, uint64_t from, char *into) {
    size_t at = 0;
    /* Up to the end of a page at a time: what is behind it may be nobody's. */
    while (at < PATH_MAX - 1) {
        size_t length = 4096 - (from + at) % 4096;
        if (length > PATH_MAX - 1 - at)
            length = PATH_MAX - 1 - at;
        size_t done = read_memory(id, from + at, into + at, length);
        if (done == 0 || memchr(into + at, 0, done))
            break;
        at += done;
    }
    into[PATH_MAX - 1] = 0;
}

/* The path of a descriptor; empty when it is none of ours. */
static void path_of(pid_t id, int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", id, fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    if (!is_ours(path) || strstr(path, " (deleted)"))
        path[0] = 0;
}

/* The whole path that a name stands for; empty when it is none of ours. The last link is not followed. */
static void resolve(pid_t id, int at, uint64_t name, char *path) {
    char given[PATH_MAX] = "", base[PATH_MAX] = "", link[64], whole[2 * PATH_MAX], parent[PATH_MAX];
    read_string(id, name, given);
    if (given[0] != '/') {
        if (at == AT_FDCWD)
            snprintf(link, sizeof link, "/proc/%d/cwd", id);
        else
            snprintf(link, sizeof link, "/proc/%d/fd/%d", id, at);
        ssize_t length = readlink(link, base, sizeof base - 1);
        base[length < 0 ? 0 : length] = 0;
    }
    snprintf(whole, sizeof whole, "%s%s%s", base, given[0] == '/' ? "" : "/", given);
    char *slash = strrchr(whole, '/');
    path[0] = 0;
    if (!slash)
        return;
    *slash = 0;
    if (realpath(whole[0] ? whole : "/", parent)) {
        size_t length = strlen(parent);
        if (length + strlen(slash + 1) + 2 < PATH_MAX) {
            memcpy(path, parent, length);
            path[length] = '/';
            strcpy(path + length + 1, slash + 1);
        }
    }
    if (!is_ours(path))
        path[0] = 0;
}

static int exists(const char *path) {
    struct stat facts;
    return path[0] && lstat(path, &facts) == 0;
}

static void begins(struct thread *t) {
    uint64_t *a = t->args;
    t->path[0] = t->to[0] = 0;
    switch (t->number) {
#ifdef SYS_open
    case SYS_open:
        if (a[1] & (O_CREAT | O_TRUNC))
            resolve(t->id, AT_FDCWD, a[0], t->path);
        break;
    case SYS_creat: resolve(t->id, AT_FDCWD, a[0], t->path); break;
    case SYS_unlink:
    case SYS_rmdir:
    case SYS_mkdir: resolve(t->id, AT_FDCWD, a[0], t->path); break;
    case SYS_symlink: resolve(t->id, AT_FDCWD, a[1], t->path); break;
    case SYS_rename:
    case SYS_link:
        resolve(t->id, AT_FDCWD, a[0], t->path);
        resolve(t->id, AT_FDCWD, a[1], t->to);
        break;
#endif
    case SYS_openat:
        if (a[2] & (O_CREAT | O_TRUNC))
            resolve(t->id, a[0], a[1], t->path);
        break;
    case SYS_openat2: {
        uint64_t how[3] = {0};
        read_memory(t->id, a[2], how, sizeof how);
        a[5] = how[0];
        if (how[0] & (O_CREAT | O_TRUNC))
            resolve(t->id, a[0], a[1], t->path);
        break;
    }
    case SYS_unlinkat:
    case SYS_mkdirat: resolve(t->id, a[0], a[1], t->path); break;
    case SYS_symlinkat: resolve(t->id, a[1], a[2], t->path); break;
#ifdef SYS_renameat
    case SYS_renameat:
#endif
    case SYS_renameat2:
    case SYS_linkat:
        resolve(t->id, a[0], a[1], t->path);
        resolve(t->id, a[2], a[3], t->to);
        break;
    }
    t->was_there = exists(t->path);
}

static uint64_t offset_of(pid_t id, int fd) {
    char name[64], line[64];
    unsigned long long offset = 0;
    snprintf(name, sizeof name, "/proc/%d/fdinfo/%d", id, fd);
    FILE *file = fopen(name, "r");
    if (file && fgets(line, sizeof line, file))
        sscanf(line, "pos: %llu", &offset);
    if (file)
        fclose(file);
    return offset;
}

static void wrote(struct thread *t, uint64_t from, uint64_t length, uint64_t offset) {
    void *bytes = malloc(length ? length : 1);
    note('W', t->path, offset, bytes, bytes ? read_memory(t->id, from, bytes, length) : 0);
    free(bytes);
}

static void wrote_parts(struct thread *t, uint64_t parts, uint64_t count, uint64_t length, uint64_t offset) {
    for (uint64_t i = 0; i < count && length > 0; i++) {
        struct iovec part;
        if (read_memory(t->id, parts + i * sizeof part, &part, sizeof part) != sizeof part)
            return;
        uint64_t done = part.iov_len < length ? part.iov_len : length;
        wrote(t, (uintptr_t)part.iov_base, done, offset);
        offset += done;
        length -= done;
    }
}

/* What the system itself wrote into a file is read back. */
static void wrote_whole(const char *path) {
    FILE *file = fopen(path, "r");
    char bytes[4096];
    size_t length;
    uint64_t offset = 0;
    while (file && (length = fread(bytes, 1, sizeof bytes, file)) > 0) {
        note('W', path, offset, bytes, length);
        offset += length;
    }
    if (file)
        fclose(file);
}

static void opened(struct thread *t, uint64_t flags) {
    if (!t->path[0])
        return;
    if ((flags & O_CREAT) && !t->was_there)
        note('C', t->path, 0, "", 0);
    else if (flags & O_TRUNC)
        note('T', t->path, 0, "", 0);
}

static void ends(struct thread *t, int64_t result) {
    uint64_t *a = t->args;
    if (result < 0)
        return;
    switch (t->number) {
#ifdef SYS_open
    case SYS_open: opened(t, a[1]); break;
    case SYS_creat: opened(t, O_CREAT | O_TRUNC); break;
    case SYS_unlink: if (t->path[0]) note('U', t->path, 0, "", 0); break;
    case SYS_rmdir: if (t->path[0]) note('D', t->path, 0, "", 0); break;
    case SYS_mkdir:
#endif
    case SYS_mkdirat: if (t->path[0]) note('M', t->path, 0, "", 0); break;
    case SYS_openat: opened(t, a[2]); break;
    case SYS_openat2: opened(t, a[5]); break;
    case SYS_unlinkat: if (t->path[0]) note(a[2] & AT_REMOVEDIR ? 'D' : 'U', t->path, 0, "", 0); break;
#ifdef SYS_symlink
    case SYS_symlink:
#endif
    case SYS_symlinkat: {
        char target[PATH_MAX] = "";
        read_string(t->id, a[0], target);
        if (t->path[0])
            note('Y', t->path, 0, target, strlen(target));
        break;
    }
#ifdef SYS_rename
    case SYS_rename:
#endif
#ifdef SYS_renameat
    case SYS_renameat:
#endif
    case SYS_renameat2: if (t->path[0] && t->to[0]) note('R', t->path, 0, t->to, strlen(t->to)); break;
#ifdef SYS_link
    case SYS_link:
#endif
    case SYS_linkat: if (t->path[0] && t->to[0]) note('L', t->path, 0, t->to, strlen(t->to)); break;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
        path_of(t->id, a[0], t->path);
        if (!t->path[0] || result == 0)
            break;
        if (t->number == SYS_write)
            wrote(t, a[1], result, offset_of(t->id, a[0]) - result);
        else if (t->number == SYS_pwrite64)
            wrote(t, a[1], result, a[3]);
        else if (t->number == SYS_writev)
            wrote_parts(t, a[1], a[2], result, offset_of(t->id, a[0]) - result);
        else
            wrote_parts(t, a[1], a[2], result, a[3]);
        break;
    case SYS_copy_file_range:
        path_of(t->id, a[2], t->path);
        if (t->path[0])
            wrote_whole(t->path);
        break;
    case SYS_sendfile:
        path_of(t->id, a[0], t->path);
        if (t->path[0])
            wrote_whole(t->path);
        break;
    case SYS_ftruncate:
        path_of(t->id, a[0], t->path);
        if (t->path[0])
            note('T', t->path, a[1], "", 0);
        break;
    case SYS_fsync:
    case SYS_fdatasync:
        path_of(t->id, a[0], t->path);
        if (t->path[0])
            note('S', t->path, 0, "", 0);
        break;
    case SYS_syncfs:
    case SYS_sync: note('A', folder, 0, "", 0); break;
    }
}

static void system_call(pid_t id) {
    struct ptrace_syscall_info info;
    int is_new;
    struct thread *t = thread_of(id, &is_new);
    if (ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info) <= 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        t->number = info.entry.nr;
        for (int i = 0; i < 6; i++)
            t->args[i] = info.entry.args[i];
        begins(t);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
        ends(t, info.exit.rval);
        t->number = UINT64_MAX;
    }
}

int main(int count, char **words) {
    if (count < 4)
        return 2;
    folder = words[1];
    folder_length = strlen(folder);
    record_file = fopen(words[2], "w");
    if (!record_file)
        return 2;
    pid_t first = fork();
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execvp(words[3], words + 3);
        _exit(127);
    }
    int status, code = 1, is_new;
    if (first < 0 || waitpid(first, &status, 0) != first)
        return 2;
    thread_of(first, &is_new);
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, first, 0, options) != 0) {
        fprintf(stderr, "not allowed to watch a process: %s\n", strerror(errno));
        return 4;
    }
    ptrace(PTRACE_SYSCALL, first, 0, 0);
    pid_t id;
    while ((id = waitpid(-1, &status, __WALL)) > 0) {
        if (!WIFSTOPPED(status)) {
            thread_of(id, &is_new)->id = 0;
            if (id == first)
                code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
            continue;
        }
        int signal = WSTOPSIG(status), deliver = 0;
        thread_of(id, &is_new);
        if (signal == (SIGTRAP | 0x80))
            system_call(id);
        else if (status >> 16 == 0 && !(is_new && signal == SIGSTOP))
            deliver = signal;
        ptrace(PTRACE_SYSCALL, id, 0, deliver);
    }
    fclose(record_file);
    return code;
}
