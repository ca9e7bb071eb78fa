// getopt_long of the C library. Swift's own Glibc module leaves <getopt.h> out, and Swift 6 does not let through the
// global variables in which getopt keeps its place and its answers; the caller holds a lock around all of these.
#ifndef WEFT_CGETOPT_SHIM_H
#define WEFT_CGETOPT_SHIM_H

#include <getopt.h>
#include <stddef.h>

/// Forgets everything, also the place inside a bundle of letters, and prints nothing by itself.
static inline void weft_getopt_restart(void) {
#ifdef __APPLE__
    optreset = 1;
    optind = 1;
#else
    optind = 0;
#endif
    opterr = 0;
}

/// The next option's code, -1 at the end.
static inline int weft_getopt_next(int count, char *const *words, const char *letters, const struct option *options) {
    return getopt_long(count, words, letters, options, NULL);
}

static inline const char *weft_getopt_value(void) { return optarg; }

static inline int weft_getopt_index(void) { return optind; }

static inline int weft_getopt_offender(void) { return optopt; }

#endif
