/* SPDX-License-Identifier: BSD-2-Clause */
/* examples/redirect_map.bpf.c compiled for the host: see native.h. */
#include "native.h"

#define _license redirect_map_license
#define rx_cnt	 redirect_map_rx_cnt
#define tx_port	 redirect_map_tx_port
#include "../../../examples/redirect_map.bpf.c"

NATIVE_PROGRAM(redirect_map, NATIVE_MAP("rx_cnt", rx_cnt) NATIVE_MAP("tx_port", tx_port))
