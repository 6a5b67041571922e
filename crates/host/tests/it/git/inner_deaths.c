/* Ends the process, or its whole group, at one of the operations on files that all processes together perform. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_due(void) {
    const char *count = getenv("FAULT_COUNT"), *at = getenv("FAULT_AT"), *victim = getenv("FAULT_VICTIM");
    if (!count || !at || !victim) return 0;
    if (*victim == 'g' && strncmp(program_invocation_short_name, "git", 3)) return 0;
    int saved = errno;
    int file = syscall(SYS_openat, AT_FDCWD, count, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    long size = -1;
    if (file >= 0) {
        syscall(SYS_write, file, "x", 1);
        size = syscall(SYS_lseek, file, 0, SEEK_END);
        syscall(SYS_close, file);
    }
    errno = saved;
    return size == atol(at);
}

static void die(void) {
    if (*getenv("FAULT_VICTIM") == 'a') kill(0, SIGKILL);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static void tick(void) {
    if (is_due()) die();
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        if (flags & (O_WRONLY | O_RDWR | O_CREAT)) tick(); \
        return NEXT(name)(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int at, const char *path, int flags, ...) { \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        if (flags & (O_WRONLY | O_RDWR | O_CREAT)) tick(); \
        return NEXT(name)(at, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int file, const void *bytes, size_t length) {
    struct stat found;
    int saved = errno;
    int is_file = fstat(file, &found) == 0 && S_ISREG(found.st_mode);
    errno = saved;
    if (is_file && is_due()) {
        syscall(SYS_write, file, bytes, length / 2);
        die();
    }
    return NEXT(write)(file, bytes, length);
}

int rename(const char *from, const char *to) { tick(); return NEXT(rename)(from, to); }
int unlink(const char *path) { tick(); return NEXT(unlink)(path); }
int unlinkat(int at, const char *path, int flags) { tick(); return NEXT(unlinkat)(at, path, flags); }
int link(const char *from, const char *to) { tick(); return NEXT(link)(from, to); }
int linkat(int a, const char *from, int b, const char *to, int flags) { tick(); return NEXT(linkat)(a, from, b, to, flags); }
int symlink(const char *target, const char *path) { tick(); return NEXT(symlink)(target, path); }
int mkdir(const char *path, mode_t mode) { tick(); return NEXT(mkdir)(path, mode); }
int rmdir(const char *path) { tick(); return NEXT(rmdir)(path); }
