#ifndef ALLOCATION_COUNT_H
#define ALLOCATION_COUNT_H

#include <stddef.h>

/// Starts to watch what the calling thread allocates. Where the C library is not glibc, nothing is counted.
void allocation_count_begin(void);

/// The most bytes that lived at one time since `begin`, beyond those that lived before, and the largest request.
void allocation_count_end(size_t *peak, size_t *largest);

/// A crash from now on says `words`, then `round`, before the process ends by its signal.
void crash_note(const char *words, unsigned long long round);

#endif
