/* SPDX-License-Identifier: BSD-2-Clause */
/* examples/xdp1.bpf.c compiled for the host: see native.h. */
#include "native.h"

#define _license xdp1_license
#define rxcnt	 xdp1_rxcnt
#include "../../../examples/xdp1.bpf.c"

NATIVE_PROGRAM(xdp1, NATIVE_MAP("rxcnt", rxcnt))
