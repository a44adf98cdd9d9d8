/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's live frames as a row of a table: see live.h. */
#include "live.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "lab/rig.h"
#include "oracle/kernel.h"

enum {
	TARGET_IFINDEX = 10, /* any number that the helper's namespace does not have yet */
	FRAME_BYTES = 64,    /* as the memory port's frames */
	REPEAT = 1 << 19,    /* frames of the first of two calls */
};

struct live {
	struct kernel_oracle *oracle;
	uint8_t frame[FRAME_BYTES];
};

/* Slot 0 of the devmap leads to the veth. */
static json_t *devmap_state(void)
{
	return json_pack("{s:{s:[{s:s, s:i}]}}", "tx_port", "entries", "key", "00000000", "ifindex",
			 TARGET_IFINDEX);
}

/* The frame that the memory port generates: an IPv4 UDP packet of the built-in capture, padded. */
static void fill_frame(uint8_t *frame)
{
	static const uint8_t head[] = {
		0x02, 0, 0,  0,	 0, 2, 0x02, 0, 0,  0,	0, 1, 0x08, 0x00, /* Ethernet */
		0x45, 0, 0,  50, 0, 0, 0,    0, 64, 17, 0, 0, 10,   0,
		0,    1, 10, 0,	 0, 2, /* IPv4 */
	};

	for (uint32_t i = 0; i < FRAME_BYTES; i++)
		frame[i] = i < sizeof(head) ? head[i] : 0;
}

int live_open(struct live **ret, const char *name, bool devmap, struct err *err)
{
	struct kernel_if target = { .ifindex = TARGET_IFINDEX, .peer_drops = true };
	struct kernel_oracle_cfg cfg = { .cpu = cpu_count() - 1 };
	struct live *live = calloc(1, sizeof(*live));
	char path[4096];
	int rc;

	if (!live)
		return err_set(err, ENOMEM, "no memory for a benchmark");
	cfg.object = rig_object_path(name, path, sizeof(path));
	if (devmap) {
		cfg.ifs = &target;
		cfg.n_ifs = 1;
		cfg.maps = devmap_state();
	}
	fill_frame(live->frame);
	rc = kernel_oracle_open(&live->oracle, &cfg, err);
	json_decref(cfg.maps);
	if (rc) {
		free(live);
		return rc;
	}
	*ret = live;
	return 0;
}

/* The kernel's time grows with the number of frames from a start of tens of milliseconds, which is the making of a page
 * pool: the difference of two calls is what a frame costs. */
double live_time(void *arg, uint64_t packets)
{
	struct live *live = arg;
	uint64_t some, more;
	struct err err;

	(void)packets;
	if (kernel_oracle_live(live->oracle, live->frame, FRAME_BYTES, REPEAT, &some, &err) ||
	    kernel_oracle_live(live->oracle, live->frame, FRAME_BYTES, 2 * REPEAT, &more, &err))
		return -1;
	return more > some ? (double)(more - some) / REPEAT : -1;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	kernel_oracle_close(live->oracle);
	free(live);
}
