/* SPDX-License-Identifier: BSD-2-Clause */
/* examples/touch.bpf.c compiled for the host: see native.h. */
#include "native.h"

#define _license touch_license
#include "../../../examples/touch.bpf.c"

NATIVE_PROGRAM(touch, )
