// libzmq as Swift sees it.
#pragma once

#include <errno.h>
#include <zmq.h>

// ETERM is a macro over an expression, which Swift does not import.
static inline int weft_zmq_eterm(void) { return ETERM; }

// ZMQ_ZAP_ENFORCE_DOMAIN: every libzmq since 4.3.0 obeys it, but its header shows it to draft builds only. Without it a CURVE
// server whose ZAP handler is gone lets every key in.
enum { WEFT_ZMQ_ZAP_ENFORCE_DOMAIN = 93 };
