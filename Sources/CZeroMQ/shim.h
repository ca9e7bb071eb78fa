// libzmq as Swift sees it. No draft API.
#pragma once

#include <errno.h>
#include <zmq.h>

// ETERM is a macro over an expression, which Swift does not import.
static inline int weft_zmq_eterm(void) { return ETERM; }
