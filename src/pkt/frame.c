/* SPDX-License-Identifier: BSD-2-Clause */
/* Filling a frame: see frame.h. */
#include "pkt/frame.h"

#include <errno.h>
#include <string.h>

int frame_fill(struct frame *f, const void *bytes, uint32_t len)
{
	if (len > FRAME_DATA_MAX)
		return -EMSGSIZE;
	frame_reset(f);
	memcpy(f->data, bytes, len);
	f->data_end = f->data + len;
	return 0;
}
