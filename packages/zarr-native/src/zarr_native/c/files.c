/* Files of a local store: reading below its directory, and atomic replacement.
 *
 * What is unusual (links, a directory where a file should be, full disks, long names) is left to
 * Python, which does it or raises the error.  Nothing is changed then. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "native.h"

#if defined(__linux__) && __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#if defined(SYS_openat2) && defined(RESOLVE_BENEATH)
#define HAVE_OPENAT2 1
#endif
#endif
#ifndef O_PATH
#define O_PATH O_RDONLY
#endif

#define ONE_CALL ((int64_t)1 << 30)
#define ATTEMPTS 100

int open_root(const char *path) { return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); }

#ifdef HAVE_OPENAT2
static int openat2_works(int root) {
    static atomic_int known; /* 0 unknown, 1 yes, 2 no: an old kernel, or a sandbox */
    int state = atomic_load(&known);
    if (!state) {
        struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
        int found = (int)syscall(SYS_openat2, root, ".", &how, sizeof how);
        if (found >= 0) close(found);
        state = found >= 0 ? 1 : 2;
        atomic_store(&known, state);
    }
    return state == 1;
}
#endif

/* Without openat2: one directory after the other, none of which may be a link. */
static int open_step_by_step(int root, const char *path, int flags) {
    int directory = root;
    for (;;) {
        const char *slash = strchr(path, '/');
        char name[NAME_MAX + 1];
        size_t length = slash ? (size_t)(slash - path) : strlen(path);
        int found;
        if (!length || length > NAME_MAX) {
            found = -ENAMETOOLONG;
        } else {
            memcpy(name, path, length);
            name[length] = 0;
            int how = slash ? O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW : flags;
            found = openat(directory, name, how, 0666);
            if (found < 0) found = -errno;
        }
        if (directory != root) close(directory);
        if (found < 0 || !slash) return found;
        directory = found;
        path = slash + 1;
    }
}

int open_beneath(int root, const char *path, int flags, int follow_links) {
    /* A link at the end is followed by Python, after its checks. */
    flags |= O_CLOEXEC | O_NOFOLLOW;
    if (follow_links) {
        int found = openat(root, path, flags, 0666);
        return found < 0 ? -errno : found;
    }
#ifdef HAVE_OPENAT2
    if (openat2_works(root)) {
        struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_BENEATH};
        if (flags & O_CREAT) how.mode = 0666;
        for (int i = 0; i < ATTEMPTS; i++) { /* EAGAIN: a directory was moved meanwhile */
            int found = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
            if (found >= 0) return found;
            if (errno != EAGAIN && errno != EINTR) return -errno;
        }
        return -EAGAIN;
    }
#endif
    return open_step_by_step(root, path, flags);
}

int64_t file_size(int descriptor) {
    /* Fails for pipes; a directory has any size, but cannot be read. */
    int64_t size = lseek(descriptor, 0, SEEK_END);
    return size > 0 ? size : -1;
}

int read_fully(int descriptor, uint8_t *buffer, int64_t size, int64_t offset) {
    while (size > 0) {
        ssize_t count = pread(descriptor, buffer, (size_t)(size < ONE_CALL ? size : ONE_CALL), offset);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return -1;
        buffer += count, size -= count, offset += count;
    }
    return 0;
}

int is_missing(const Plan *plan, int root, const char *key) {
    int found = open_beneath(root, key, O_PATH, plan->follow_links);
    if (found >= 0) close(found);
    return found == -ENOENT;
}

/* --- writing --- */

/* The length of the directory of a key; 0 if it is the root. */
static size_t directory_length(const char *key) {
    const char *slash = strrchr(key, '/');
    return slash ? (size_t)(slash - key) : 0;
}

static int open_directory(const Plan *plan, int root, const char *path) {
    if (!*path) return fcntl(root, F_DUPFD_CLOEXEC, 0);
    return open_beneath(root, path, O_PATH | O_DIRECTORY, plan->follow_links);
}

/* Create the missing directories of a path.  Returns how many, which end at ends[0 .. count), also after
 * a failure. */
static int create_directories(const Plan *plan, int root, const char *path, size_t *ends) {
    char parent[MAX_KEY];
    int count = 0;
    size_t length = strlen(path), start = 0;
    while (start < length) {
        const char *slash = strchr(path + start, '/');
        size_t end = slash ? (size_t)(slash - path) : length;
        memcpy(parent, path, start);
        parent[start ? start - 1 : 0] = 0;
        int directory = open_directory(plan, root, parent);
        if (directory < 0) return count;
        char name[MAX_KEY];
        memcpy(name, path + start, end - start);
        name[end - start] = 0;
        int created = !mkdirat(directory, name, 0777);
        int exists = !created && errno == EEXIST;
        close(directory);
        if (!created && !exists) return count;
        if (created) ends[count++] = end;
        start = end + 1;
    }
    return count;
}

/* Remove directories that were created for a value that could not be stored. */
static void remove_directories(const Plan *plan, int root, const char *path, const size_t *ends,
                               int count) {
    while (count--) {
        char parent[MAX_KEY];
        size_t end = ends[count], start = end;
        while (start && path[start - 1] != '/') start--;
        memcpy(parent, path, start);
        parent[start ? start - 1 : 0] = 0;
        int directory = open_directory(plan, root, parent);
        if (directory < 0) return;
        char name[MAX_KEY];
        memcpy(name, path + start, end - start);
        name[end - start] = 0;
        unlinkat(directory, name, AT_REMOVEDIR);
        close(directory);
    }
}

static int write_fully(int descriptor, const uint8_t *data, int64_t size) {
    while (size > 0) {
        ssize_t count = write(descriptor, data, (size_t)(size < ONE_CALL ? size : ONE_CALL));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return -1;
        data += count, size -= count;
    }
    return 0;
}

int replace_value(const Plan *plan, int root, Worker *worker, const char *key, const Value *pieces,
                  int64_t count) {
    /* LocalStore and this function may choose the same number: O_EXCL decides who gets the name. */
    static atomic_ullong counter;
    size_t length = directory_length(key);
    const char *name = key + (length ? length + 1 : 0);
    char path[MAX_KEY], partial[MAX_NAME + 80];
    size_t created[MAX_DIMS + MAX_KEY / 2];
    int created_count = 0, done = 0;
    if (strlen(name) > MAX_NAME) return -1;
    memcpy(path, key, length);
    path[length] = 0;
    if (worker->directory >= 0 && strcmp(path, worker->directory_path)) {
        close(worker->directory);
        worker->directory = -1;
    }
    for (int i = 0; i < ATTEMPTS && !done; i++) {
        if (worker->directory < 0) {
            worker->directory = open_directory(plan, root, path);
            if (worker->directory == -ENOENT && !created_count) {
                created_count = create_directories(plan, root, path, created);
                worker->directory = open_directory(plan, root, path);
            }
            if (worker->directory < 0) break;
            strcpy(worker->directory_path, path);
        }
        snprintf(partial, sizeof partial, ".%s.%ld-%llu.zarr-partial", name, (long)getpid(),
                 atomic_fetch_add(&counter, 1));
        int file = openat(worker->directory, partial,
                          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (file < 0 && errno == EEXIST) continue;
        if (file < 0 && errno == ENOENT) { /* the directory was removed: try again */
            close(worker->directory);
            worker->directory = -1;
            continue;
        }
        if (file < 0) break;
        int failed = 0;
        for (int64_t piece = 0; piece < count && !failed; piece++)
            failed = write_fully(file, pieces[piece].data, pieces[piece].size);
        failed |= close(file);
        if (!failed && !renameat(worker->directory, partial, worker->directory, name)) {
            done = 1;
        } else {
            int gone = !failed && errno == ENOENT;
            unlinkat(worker->directory, partial, 0);
            if (!gone) break;
            close(worker->directory);
            worker->directory = -1;
        }
    }
    if (worker->directory < 0) worker->directory = -1; /* not a negative errno */
    if (!done) remove_directories(plan, root, path, created, created_count);
    return done ? 0 : -1;
}
