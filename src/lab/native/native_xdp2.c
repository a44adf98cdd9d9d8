/* SPDX-License-Identifier: BSD-2-Clause */
/* examples/xdp2.bpf.c compiled for the host: see native.h. */
#include "native.h"

#define _license xdp2_license
#define rxcnt	 xdp2_rxcnt
#include "../../../examples/xdp2.bpf.c"

NATIVE_PROGRAM(xdp2, NATIVE_MAP("rxcnt", rxcnt))
