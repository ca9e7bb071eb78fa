// libzmq as Swift sees it. No draft API.
#pragma once

#include <errno.h>
#include <zmq.h>
