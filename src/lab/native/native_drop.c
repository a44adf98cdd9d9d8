/* SPDX-License-Identifier: BSD-2-Clause */
/* examples/drop.bpf.c compiled for the host: see native.h. */
#include "native.h"

#define _license drop_license
#include "../../../examples/drop.bpf.c"

NATIVE_PROGRAM(drop, )
