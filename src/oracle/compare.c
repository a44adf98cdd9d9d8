/* SPDX-License-Identifier: BSD-2-Clause */
/* weir against the kernel: see compare.h. */
#include "oracle/compare.h"

#include "ctl/state.h"
#include "oracle/kernel.h"
#include "oracle/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char indent[] = "         ";

enum { GLOBALS_MAX = 256 }; /* --global flags that the kernel's side is told */

struct compare {
	struct weir *weir;
	const struct port *in;
	struct kernel_oracle *kernel;
};

static uint32_t list_ifs(struct weir *weir, struct kernel_if *ifs)
{
	const struct net_if *nif;
	struct port *port;
	uint32_t n;

	for (n = 0; (port = engine_port_at(weir->engine, n)); n++) {
		nif = net_if_by_index(engine_net(weir->engine), port->ifindex);
		ifs[n] = (struct kernel_if){
			.ifindex = port->ifindex,
			.mtu = port->mtu,
			.down = nif ? !nif->up : !port->up,
			.peer_drops = true,
		};
	}
	return n;
}

/* "NAME=hex" of the globals that were set, allocated; returns how many. */
static uint32_t list_globals(struct weir *weir, char **globals)
{
	uint32_t n = 0, size, type;
	const char *text;
	char name[128];
	void *bytes;

	for (uint32_t i = 0; (text = state_global_at(weir->state, i)) && n < GLOBALS_MAX; i++) {
		size_t len;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
		if (object_global(weir->object, name, &bytes, &size, &type))
			continue;
		len = strlen(name);
		globals[n] = malloc(len + 2 + 2 * (size_t)size);
		if (!globals[n])
			break;
		memcpy(globals[n], name, len);
		globals[n][len] = '=';
		hex_encode(globals[n++] + len + 1, bytes, size);
	}
	return n;
}

int compare_open(struct compare **ret, struct weir *weir, const struct port *in, struct err *err)
{
	struct compare *c = calloc(1, sizeof(*c));
	struct kernel_if ifs[ENGINE_PORTS_MAX];
	char *globals[GLOBALS_MAX];
	struct kernel_oracle_cfg cfg = {
		.object = object_path(weir->object),
		.prog = weir->prog->po.name,
		.btf = weir->opts.btf,
		.cpu = weir->opts.cpu,
		.globals = (const char *const *)globals,
		.ifs = ifs,
	};
	int rc;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	c->weir = weir;
	c->in = in;
	cfg.n_ifs = list_ifs(weir, ifs);
	cfg.n_globals = list_globals(weir, globals);
	cfg.maps = snapshot_take(object_libbpf(weir->object));
	rc = kernel_oracle_open(&c->kernel, &cfg, err);
	json_decref(cfg.maps);
	for (uint32_t i = 0; i < cfg.n_globals; i++)
		free(globals[i]);
	if (rc)
		free(c);
	else
		*ret = c;
	return rc;
}

static bool bytes_equal(const struct result *r, const struct kernel_answer *a)
{
	return a->len == r->len && a->meta_len == r->meta_len &&
	       !memcmp(a->bytes, r->bytes, a->len) &&
	       !memcmp(a->meta, r->bytes - r->meta_len, a->meta_len);
}

int compare_packet(struct compare *c, const struct result *r, FILE *out, struct err *err)
{
	struct kernel_answer answer;
	char name[24];
	int rc;

	rc = kernel_oracle_run(c->kernel, c->in->ifindex, c->weir->opts.rx_queue, r->in, r->in_len,
			       &answer, err);
	if (rc)
		return rc;
	if (answer.verdict != r->code) {
		if (out)
			fprintf(out, "%sDIFFERENT: packet %u: the kernel says %s\n", indent, r->n,
				verdict_name(answer.verdict, name, sizeof(name)));
		return 1;
	}
	if (*r->program || bytes_equal(r, &answer))
		return 0;
	if (out) {
		fprintf(out, "%sDIFFERENT: packet %u: bytes, the kernel's -> weir's:\n", indent,
			r->n);
		bytes_print_diff(answer.bytes, answer.len, r->bytes, r->len, indent, out);
		if (answer.meta_len != r->meta_len)
			fprintf(out, "%smetadata %u -> %u bytes\n", indent, answer.meta_len,
				r->meta_len);
	}
	return 1;
}

static void print_difference(void *arg, const char *text)
{
	FILE *out = arg;

	if (out)
		fprintf(out, "%sDIFFERENT: %s\n", indent, text);
}

int compare_maps(struct compare *c, FILE *out, uint32_t *ret_different, struct err *err)
{
	json_t *ours, *theirs;
	int rc;

	rc = kernel_oracle_maps(c->kernel, &theirs, err);
	if (rc)
		return rc;
	ours = snapshot_take(object_libbpf(c->weir->object));
	*ret_different = snapshot_diff(ours, theirs, print_difference, out);
	json_decref(ours);
	json_decref(theirs);
	return 0;
}

void compare_close(struct compare *c)
{
	if (!c)
		return;
	kernel_oracle_close(c->kernel);
	free(c);
}
