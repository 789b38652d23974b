// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LD_PRELOAD=libfaults.so: the system refuses something.
 *
 *   FAULT_AT=CLASS:N     the Nth call of a class fails (from 1), and none else
 *   FAULT_AT=CLASS:N+    and all of the class behind it
 *   FAULT_IN=NAME        calls of a library of this name alone count; else, of any
 *   FAULT_COUNT=PATH     at exit, a line "CLASS N" for each class is written there, with how
 *                        many calls there were, and "fired" if one has failed
 *   FAULT_TRACE=PATH     who made the call that fails is written there, as backtrace(3) does
 *
 * The classes, and what their calls fail with:
 *
 *   memory    malloc() and its kin                         ENOMEM
 *   open      what makes descriptors                       EMFILE
 *   denied    what looks for files by their names          EACCES
 *   write     write() and its kin, and fflush()            ENOSPC
 *   part      write() and its kin                          half is written
 *   read      read() and its kin, and stdio's              EIO
 *   some      read() and its kin                           half is read
 *   map       mmap()                                       ENOMEM
 *   stat      stat() and its kin                           EIO
 *   file      what changes files, and close()              EIO; what was to be closed, is
 *   thread    pthread_create()                             EAGAIN
 *   process   fork()                                       EAGAIN
 *
 * Random numbers are always the same ones, so that each run is.
 *
 * Only in the process that was started with it, neither in what it forks nor in what it
 * executes. Of what glibc calls within itself, only allocations are seen.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum fault_class {
	MEMORY,
	OPEN,
	DENIED,
	WRITE,
	PART,
	READ,
	SOME,
	MAP,
	STAT,
	FILES,
	THREAD,
	PROCESS,
	NR_CLASSES,
};

/* clang-format off */
static const struct {
	const char *name;
	int err; /* 0: half of it is done */
} classes[NR_CLASSES] = {
	[MEMORY] = {"memory", ENOMEM},
	[OPEN] = {"open", EMFILE},
	[DENIED] = {"denied", EACCES},
	[WRITE] = {"write", ENOSPC},
	[PART] = {"part", 0},
	[READ] = {"read", EIO},
	[SOME] = {"some", 0},
	[MAP] = {"map", ENOMEM},
	[STAT] = {"stat", EIO},
	[FILES] = {"file", EIO},
	[THREAD] = {"thread", EAGAIN},
	[PROCESS] = {"process", EAGAIN},
};
/* clang-format on */

static atomic_ulong counts[NR_CLASSES];
static atomic_bool fired;
static bool is_on, is_for_good;
static enum fault_class failing = NR_CLASSES;
static unsigned long nth;
static char library[256], count_path[4096], trace_path[4096];
static pid_t counted; /* not in children, which have all of this from their parent */
static _Thread_local bool is_ours __attribute__((tls_model("initial-exec")));

/* --- which call fails -------------------------------------------------------------------- */

static bool is_counted(const void *caller)
{
	Dl_info info;

	if (!is_on || is_ours || getpid() != counted)
		return false;
	if (!*library)
		return true;
	return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, library);
}

static void write_trace(void)
{
	void *frames[32];
	int fd, nr;

	if (!*trace_path)
		return;
	is_ours = true;
	fd = open(trace_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	nr = backtrace(frames, 32);
	backtrace_symbols_fd(frames, nr, fd);
	close(fd);
	is_ours = false;
}

/* Has this call to fail? errno is set then; else it is what it was. */
static bool fails(enum fault_class class, const void *caller)
{
	int saved_errno = errno;
	unsigned long nr;
	bool is_wanted;

	if (!is_counted(caller)) {
		errno = saved_errno;
		return false;
	}
	nr = atomic_fetch_add(&counts[class], 1) + 1;
	is_wanted = class == failing && (nr == nth || (is_for_good && nr > nth));
	if (is_wanted && !atomic_exchange(&fired, true))
		write_trace();
	errno = is_wanted ? classes[class].err : saved_errno;
	return is_wanted;
}

#define FAILS(class) fails(class, __builtin_return_address(0))

static void take_path(const char *name, char *ret, size_t room)
{
	const char *text = getenv(name);

	snprintf(ret, room, "%s", text ? text : "");
	unsetenv(name);
}

static void take_fault(void)
{
	const char *text = getenv("FAULT_AT");
	const char *colon = text ? strchr(text, ':') : NULL;
	char *end;

	for (size_t i = 0; i < NR_CLASSES && colon; i++)
		if (strlen(classes[i].name) == (size_t)(colon - text) &&
		    !strncmp(classes[i].name, text, (size_t)(colon - text)))
			failing = i;
	if (colon) {
		nth = strtoul(colon + 1, &end, 10);
		is_for_good = *end == '+';
	}
	if (text && (failing == NR_CLASSES || !nth)) {
		fprintf(stderr, "libfaults: FAULT_AT=%s is none\n", text);
		_exit(127);
	}
	unsetenv("FAULT_AT");
}

__attribute__((constructor)) static void begin(void)
{
	void *frame;

	take_fault();
	take_path("FAULT_IN", library, sizeof(library));
	take_path("FAULT_COUNT", count_path, sizeof(count_path));
	take_path("FAULT_TRACE", trace_path, sizeof(trace_path));
	unsetenv("LD_PRELOAD");
	backtrace(&frame, 1); /* loads what it needs */
	counted = getpid();
	is_on = *library;
}

__attribute__((destructor)) static void write_counts(void)
{
	int fd;

	if (!*count_path || getpid() != counted)
		return;
	is_on = false;
	fd = open(count_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	for (size_t i = 0; i < NR_CLASSES; i++)
		dprintf(fd, "%s %lu\n", classes[i].name, atomic_load(&counts[i]));
	if (atomic_load(&fired))
		dprintf(fd, "fired\n");
	close(fd);
}

/* What is before and behind main() is not the program's, but a library may have work there. */
static int (*real_main)(int argc, char **argv, char **envp);

static int counted_main(int argc, char **argv, char **envp)
{
	int status;

	is_on = true;
	status = real_main(argc, argv, envp);
	is_on = *library;
	return status;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
		      int (*init)(int, char **, char **), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
		      int (*init)(int, char **, char **), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end)
{
	__typeof__(&__libc_start_main) start =
		(__typeof__(&__libc_start_main))(uintptr_t)dlsym(RTLD_NEXT,
								 "__libc_start_main");

	real_main = main;
	return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* --- memory ------------------------------------------------------------------------------ */

/*
 * glibc's by name, since dlsym() itself may allocate; but under AddressSanitizer what is
 * allocated must be its.
 */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static void *(*asan_malloc)(size_t);
static void *(*asan_calloc)(size_t, size_t);
static void *(*asan_realloc)(void *, size_t);
static void *(*asan_memalign)(size_t, size_t);

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

#define SET_NEXT(pointer, name) (*(void **)&(pointer) = next(name))

static bool has_asan(void)
{
	static int has = -1;

	if (has < 0) {
		has = 0;
		if (next("__asan_init")) {
			SET_NEXT(asan_malloc, "malloc");
			SET_NEXT(asan_calloc, "calloc");
			SET_NEXT(asan_realloc, "realloc");
			SET_NEXT(asan_memalign, "memalign");
			has = 1;
		}
	}
	return has > 0;
}

void *malloc(size_t size)
{
	if (FAILS(MEMORY))
		return NULL;
	return has_asan() ? asan_malloc(size) : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	if (FAILS(MEMORY))
		return NULL;
	return has_asan() ? asan_calloc(nr, size) : __libc_calloc(nr, size);
}

static void *resize(void *old, size_t size)
{
	return has_asan() ? asan_realloc(old, size) : __libc_realloc(old, size);
}

void *realloc(void *old, size_t size)
{
	return FAILS(MEMORY) ? NULL : resize(old, size);
}

void *reallocarray(void *old, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes) || FAILS(MEMORY))
		return NULL;
	return resize(old, bytes);
}

static void *aligned(size_t alignment, size_t size)
{
	return has_asan() ? asan_memalign(alignment, size)
			  : __libc_memalign(alignment, size);
}

/* AddressSanitizer asks this of each thread that starts, and ends all if it is refused. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *ret)
{
	static int (*real)(pthread_t, pthread_attr_t *);
	bool was_ours = is_ours;
	int err;

	is_ours |= has_asan();
	if (!real)
		SET_NEXT(real, "pthread_getattr_np");
	err = real(thread, ret);
	is_ours = was_ours;
	return err;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return FAILS(MEMORY) ? NULL : aligned(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *memory = FAILS(MEMORY) ? NULL : aligned(alignment, size);

	if (!memory)
		return ENOMEM;
	*ret = memory;
	return 0;
}

/* Those that glibc allocates for are wrapped, too: else nobody knows for whom it does. */
static char *copy(const char *text, size_t nr, const void *caller)
{
	char *memory;

	if (fails(MEMORY, caller))
		return NULL;
	is_ours = true;
	memory = malloc(nr + 1);
	is_ours = false;
	if (memory) {
		memcpy(memory, text, nr);
		memory[nr] = '\0';
	}
	return memory;
}

char *strdup(const char *text)
{
	return copy(text, strlen(text), __builtin_return_address(0));
}

char *strndup(const char *text, size_t most)
{
	return copy(text, strnlen(text, most), __builtin_return_address(0));
}

/* --- everything else --------------------------------------------------------------------- */

/*
 * WRAP(type, name, (parameters), (arguments), what it does if it fails): @call is the call
 * that is stood in for.
 */
#define WRAP(type, name, parameters, arguments, ...)                       \
	type name parameters;                                              \
	type name parameters                                               \
	{                                                                  \
		static type(*call) parameters;                             \
                                                                           \
		if (!call)                                                 \
			call = (type(*) parameters)(uintptr_t)next(#name); \
		__VA_ARGS__                                                \
		return call arguments;                                     \
	}

#define FAIL_WITH(class, result)       \
	do {                           \
		if (FAILS(class))      \
			return result; \
	} while (0);

#define BY_NAME(result) FAIL_WITH(OPEN, result) FAIL_WITH(DENIED, result)

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define WRAP_OPEN(name, parameters, ...)                                  \
	int name parameters;                                              \
	int name parameters                                               \
	{                                                                 \
		static int(*call) parameters;                             \
		va_list args;                                             \
		mode_t mode;                                              \
                                                                          \
		if (!call)                                                \
			call = (int(*) parameters)(uintptr_t)next(#name); \
		va_start(args, flags);                                    \
		mode = mode_of(flags, args);                              \
		va_end(args);                                             \
		BY_NAME(-1)                                               \
		return call(__VA_ARGS__, mode);                           \
	}

WRAP_OPEN(open, (const char *path, int flags, ...), path, flags)
WRAP_OPEN(open64, (const char *path, int flags, ...), path, flags)
WRAP_OPEN(openat, (int at, const char *path, int flags, ...), at, path, flags)
WRAP_OPEN(openat64, (int at, const char *path, int flags, ...), at, path, flags)
WRAP(int, __open_2, (const char *path, int flags), (path, flags), BY_NAME(-1))
WRAP(int, __openat_2, (int at, const char *path, int flags), (at, path, flags),
     BY_NAME(-1))
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), BY_NAME(NULL))
WRAP(FILE *, fopen64, (const char *path, const char *mode), (path, mode), BY_NAME(NULL))
WRAP(DIR *, opendir, (const char *path), (path), BY_NAME(NULL))
WRAP(int, mkostemp, (char *path, int flags), (path, flags), BY_NAME(-1))
WRAP(int, mkstemp, (char *path), (path), BY_NAME(-1))
WRAP(char *, mkdtemp, (char *path), (path), FAIL_WITH(DENIED, NULL))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode),
     FAIL_WITH(DENIED, -1) FAIL_WITH(FILES, -1))
WRAP(int, memfd_create, (const char *name, unsigned int flags), (name, flags),
     FAIL_WITH(OPEN, -1))
WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol),
     FAIL_WITH(OPEN, -1))
WRAP(int, pipe2, (int fds[2], int flags), (fds, flags), FAIL_WITH(OPEN, -1))
WRAP(int, dup, (int fd), (fd), FAIL_WITH(OPEN, -1))
WRAP(int, epoll_create1, (int flags), (flags), FAIL_WITH(OPEN, -1))

WRAP(ssize_t, write, (int fd, const void *data, size_t nr), (fd, data, nr),
     FAIL_WITH(WRITE, -1) if (FAILS(PART)) nr -= nr / 2;)
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t nr, off_t at), (fd, data, nr, at),
     FAIL_WITH(WRITE, -1) if (FAILS(PART)) nr -= nr / 2;)
WRAP(ssize_t, pwrite64, (int fd, const void *data, size_t nr, off64_t at),
     (fd, data, nr, at), FAIL_WITH(WRITE, -1) if (FAILS(PART)) nr -= nr / 2;)
WRAP(ssize_t, writev, (int fd, const struct iovec *parts, int nr), (fd, parts, nr),
     FAIL_WITH(WRITE, -1) if (FAILS(PART)) nr -= nr / 2;)

/* Is there anything to write, to a file and not to memory? */
static bool is_written(FILE *file)
{
	return file && fileno_unlocked(file) >= 0 && __fpending(file) > 0;
}

/* stdio's error flag is glibc's _IO_ERR_SEEN. */
#define SET_ERROR(file) ((file)->_flags |= 0x20)

WRAP(
	int, fflush, (FILE * file), (file), if (is_written(file) && FAILS(WRITE)) {
		SET_ERROR(file);
		return EOF;
	})
WRAP(ssize_t, read, (int fd, void *data, size_t nr), (fd, data, nr),
     FAIL_WITH(READ, -1) if (FAILS(SOME)) nr -= nr / 2;)
WRAP(ssize_t, pread, (int fd, void *data, size_t nr, off_t at), (fd, data, nr, at),
     FAIL_WITH(READ, -1) if (FAILS(SOME)) nr -= nr / 2;)
WRAP(ssize_t, pread64, (int fd, void *data, size_t nr, off64_t at), (fd, data, nr, at),
     FAIL_WITH(READ, -1) if (FAILS(SOME)) nr -= nr / 2;)
WRAP(
	size_t, fread, (void *data, size_t size, size_t nr, FILE *file),
	(data, size, nr, file), if (FAILS(READ)) {
		SET_ERROR(file);
		return 0;
	})
WRAP(
	ssize_t, __getdelim, (char **line, size_t *room, int end, FILE *file),
	(line, room, end, file), if (FAILS(READ)) {
		SET_ERROR(file);
		return -1;
	})
WRAP(
	ssize_t, getline, (char **line, size_t *room, FILE *file), (line, room, file),
	if (FAILS(READ)) {
		SET_ERROR(file);
		return -1;
	})
WRAP(struct dirent *, readdir, (DIR * folder), (folder), FAIL_WITH(READ, NULL))

WRAP(void *, mmap, (void *at, size_t nr, int prot, int flags, int fd, off_t from),
     (at, nr, prot, flags, fd, from), FAIL_WITH(MAP, MAP_FAILED))
WRAP(void *, mmap64, (void *at, size_t nr, int prot, int flags, int fd, off64_t from),
     (at, nr, prot, flags, fd, from), FAIL_WITH(MAP, MAP_FAILED))

WRAP(int, stat, (const char *path, struct stat *st), (path, st), FAIL_WITH(STAT, -1))
WRAP(int, lstat, (const char *path, struct stat *st), (path, st), FAIL_WITH(STAT, -1))
WRAP(int, fstat, (int fd, struct stat *st), (fd, st), FAIL_WITH(STAT, -1))
WRAP(int, fstatat, (int at, const char *path, struct stat *st, int flags),
     (at, path, st, flags), FAIL_WITH(STAT, -1))
WRAP(int, stat64, (const char *path, struct stat64 *st), (path, st), FAIL_WITH(STAT, -1))
WRAP(int, lstat64, (const char *path, struct stat64 *st), (path, st), FAIL_WITH(STAT, -1))
WRAP(int, fstat64, (int fd, struct stat64 *st), (fd, st), FAIL_WITH(STAT, -1))

/* As a file system does it that writes later: the descriptor is gone nonetheless. */
WRAP(
	int, close, (int fd), (fd), if (FAILS(FILES)) {
		call(fd);
		errno = EIO;
		return -1;
	})
WRAP(
	int, fclose, (FILE * file), (file), if (FAILS(FILES)) {
		call(file);
		errno = EIO;
		return EOF;
	})
WRAP(int, fsync, (int fd), (fd), FAIL_WITH(FILES, -1))
WRAP(int, fdatasync, (int fd), (fd), FAIL_WITH(FILES, -1))
WRAP(int, ftruncate, (int fd, off_t nr), (fd, nr), FAIL_WITH(FILES, -1))
WRAP(int, ftruncate64, (int fd, off64_t nr), (fd, nr), FAIL_WITH(FILES, -1))
WRAP(int, fallocate, (int fd, int mode, off_t at, off_t nr), (fd, mode, at, nr),
     FAIL_WITH(FILES, -1))
WRAP(int, rename, (const char *from, const char *to), (from, to), FAIL_WITH(FILES, -1))
WRAP(int, renameat2,
     (int from_at, const char *from, int to_at, const char *to, unsigned int flags),
     (from_at, from, to_at, to, flags), FAIL_WITH(FILES, -1))
WRAP(int, link, (const char *from, const char *to), (from, to), FAIL_WITH(FILES, -1))
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), FAIL_WITH(FILES, -1))
WRAP(int, fchown, (int fd, uid_t uid, gid_t gid), (fd, uid, gid), FAIL_WITH(FILES, -1))

WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *how, void *(*run)(void *), void *data),
     (thread, how, run, data), FAIL_WITH(THREAD, EAGAIN))
WRAP(pid_t, fork, (void), (), FAIL_WITH(PROCESS, -1))

/* The Nth call is the same one in each run, and outputs are alike. */
ssize_t getrandom(void *data, size_t nr, unsigned int flags)
{
	(void)flags;
	memset(data, 0x5a, nr);
	return (ssize_t)nr;
}
