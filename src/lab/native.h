/* SPDX-License-Identifier: BSD-2-Clause */
/* The native form of the programs of examples/, from the module weir-native.so: see native/native.h. */
#ifndef WEIR_LAB_NATIVE_H
#define WEIR_LAB_NATIVE_H

#include "base/err.h"
#include "bpf/load.h"

/*
 * Makes prog run the native function `name` on the maps of its object. -ENOTSUP when there is no module. One rig at
 * a time may be bound to a name: a later one takes its maps.
 */
int native_bind(struct prog *prog, struct object *object, const char *name, struct err *err);

#endif
