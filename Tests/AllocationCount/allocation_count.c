// The C library's allocator, with a count in front: a program that is linked with this sees every allocation that Swift, Foundation and
// the C libraries make. Swift cannot replace malloc itself.
#include "allocation_count.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#if defined(__GLIBC__)

#include <malloc.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static __thread int is_watching;
static __thread long long live, peak;
static __thread size_t largest;

static void *count(void *pointer, size_t requested) {
    if (is_watching) {
        if (requested > largest) largest = requested;
        if (pointer) live += (long long)malloc_usable_size(pointer);
        if (live > peak) peak = live;
    }
    return pointer;
}

static void uncount(void *pointer) {
    if (is_watching && pointer) live -= (long long)malloc_usable_size(pointer);
}

void *malloc(size_t size) { return count(__libc_malloc(size), size); }

void *calloc(size_t items, size_t size) {
    void *pointer = __libc_calloc(items, size);
    return count(pointer, pointer ? items * size : 0);
}

void *realloc(void *old, size_t size) {
    uncount(old);
    void *pointer = __libc_realloc(old, size);
    if (!pointer && size > 0) count(old, 0);
    return count(pointer, size);
}

void free(void *pointer) {
    uncount(pointer);
    __libc_free(pointer);
}

void *memalign(size_t alignment, size_t size) { return count(__libc_memalign(alignment, size), size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    void *pointer = memalign(alignment, size);
    if (!pointer) return ENOMEM;
    *result = pointer;
    return 0;
}

void allocation_count_begin(void) {
    live = peak = 0;
    largest = 0;
    is_watching = 1;
}

void allocation_count_end(size_t *bytes, size_t *request) {
    is_watching = 0;
    *bytes = (size_t)peak;
    *request = largest;
}

#else

void allocation_count_begin(void) {}

void allocation_count_end(size_t *bytes, size_t *request) {
    *bytes = 0;
    *request = 0;
}

#endif

static char note[256];
static volatile unsigned long long noted_round;
static char stack[64 << 10];

// Only what signal-safety(7) allows.
static void crashed(int number) {
    char digits[24];
    int place = sizeof digits;
    unsigned long long value = noted_round;
    do {
        digits[--place] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    (void)!write(STDERR_FILENO, note, strlen(note));
    (void)!write(STDERR_FILENO, digits + place, sizeof digits - place);
    (void)!write(STDERR_FILENO, "\n", 1);
    raise(number);
}

void crash_note(const char *words, unsigned long long round) {
    noted_round = round;
    if (note[0]) return;
    strncpy(note, words, sizeof note - 1);
    // A stack that overflowed cannot hold the handler.
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_RESETHAND};
    const int numbers[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) sigaction(numbers[i], &action, NULL);
}
