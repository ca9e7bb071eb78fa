// libxxhash: content hashes of source fingerprints, spool files and pictures.
#pragma once

#include <xxhash.h>
