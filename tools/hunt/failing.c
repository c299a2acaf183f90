/* Loaded before libc (LD_PRELOAD): the n-th allocation of a process fails once, or the n-th change of a file that a
 * thread other than the first one makes. Counts are kept in memory that is shared with the process that forks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NOTHING, MEMORY, FILES };
static struct { atomic_long count; long fail_at; int what, error; void *asker; } *plan;
static int here; /* not shared: whoever waits for the armed process asks for memory, too, and must get it */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static void *map(void *at, size_t size, int rights, int flags, int file, off_t start) {
    return (void *)syscall(SYS_mmap, at, size, rights, flags, file, start);
}

#define fails(what) failed(what, __builtin_return_address(0))

/* Called once, before any fork. */
int hunt_open(void) {
    plan = map(0, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return plan == MAP_FAILED ? -1 : 0;
}

void hunt_arm(int what, long fail_at, int error) {
    plan->what = NOTHING;
    atomic_store(&plan->count, 0);
    plan->fail_at = fail_at;
    plan->error = error;
    plan->asker = 0;
    plan->what = what;
    here = what != NOTHING;
}

long hunt_count(void) { return atomic_load(&plan->count); }

/* The library that asked for what it did not get; nothing is known of libraries that were loaded after the fork. */
const char *hunt_asker(void) {
    Dl_info info;
    return plan->asker && dladdr(plan->asker, &info) && info.dli_fname ? info.dli_fname : "";
}

static int failed(int what, void *asker) {
    if (!here || !plan || plan->what != what || atomic_fetch_add(&plan->count, 1) + 1 != plan->fail_at) return 0;
    plan->asker = asker;
    errno = what == MEMORY ? ENOMEM : plan->error;
    return 1;
}

void *malloc(size_t size) { return fails(MEMORY) ? 0 : __libc_malloc(size); }
void *calloc(size_t many, size_t size) { return fails(MEMORY) ? 0 : __libc_calloc(many, size); }
void *realloc(void *old, size_t size) { return fails(MEMORY) ? 0 : __libc_realloc(old, size); }
void *aligned_alloc(size_t step, size_t size) { return fails(MEMORY) ? 0 : __libc_memalign(step, size); }
int posix_memalign(void **out, size_t step, size_t size) {
    if (fails(MEMORY)) return ENOMEM;
    *out = __libc_memalign(step, size);
    return *out ? 0 : ENOMEM;
}
void *mmap(void *at, size_t size, int rights, int flags, int file, off_t start) {
    return (flags & MAP_ANONYMOUS) && fails(MEMORY) ? MAP_FAILED : map(at, size, rights, flags, file, start);
}
void *mmap64(void *at, size_t size, int rights, int flags, int file, off_t start) {
    return mmap(at, size, rights, flags, file, start);
}

/* Pipes and counters wake the threads of libraries: only regular files are concerned. */
static int elsewhere(void) { return here && plan && plan->what == FILES && syscall(SYS_gettid) != getpid(); }
static int regular(int file) {
    struct stat status;
    return elsewhere() && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

ssize_t write(int file, const void *data, size_t size) {
    return regular(file) && fails(FILES) ? -1 : syscall(SYS_write, file, data, size);
}
ssize_t pwrite64(int file, const void *data, size_t size, off_t start) {
    return regular(file) && fails(FILES) ? -1 : syscall(SYS_pwrite64, file, data, size, start);
}
ssize_t writev(int file, const struct iovec *parts, int many) {
    return regular(file) && fails(FILES) ? -1 : syscall(SYS_writev, file, parts, many);
}
int fsync(int file) { return regular(file) && fails(FILES) ? -1 : (int)syscall(SYS_fsync, file); }
int ftruncate64(int file, off_t size) {
    return regular(file) && fails(FILES) ? -1 : (int)syscall(SYS_ftruncate, file, size);
}
static int opened(const char *path, int flags, va_list more) {
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    return elsewhere() && fails(FILES) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    int file = opened(path, flags, more);
    va_end(more);
    return file;
}
int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    int file = opened(path, flags, more);
    va_end(more);
    return file;
}
int unlink(const char *path) { return elsewhere() && fails(FILES) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0); }
int rename(const char *from, const char *to) {
    return elsewhere() && fails(FILES) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
