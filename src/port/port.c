/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The specification of a port (design 10), the table of drivers, and what they have in common: see port.h.
 */
#include "port/port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port/port_impl.h"

struct driver {
	const struct port_ops *ops;
	const char *arg;      /* what its argument is; NULL: it takes none */
	const char *keys[10]; /* its own keys, NULL at the end */
};

static const struct driver drivers[] = {
	{ &mem_ops, NULL, { "len", "flows", "frames", "count", "refill", "keep" } },
	{ &sample_ops, NULL, { "loops", "count" } },
	{ &null_ops, NULL, { NULL } },
	{ &pcap_ops, "a capture file", { NULL } },
	{ &tap_ops, "the tap's name", { NULL } },
	{ &packet_ops, "an interface", { "host" } },
	{ &xdp_ops, "an interface", { "queues", "queue", "mode", "bind", "host", "force" } },
};

enum { N_DRIVERS = sizeof(drivers) / sizeof(drivers[0]) };

static const char *const common_keys[] = { "name", "ifindex", "mtu", "mac", "state" };

static const char *const rx_loss_names[RX_LOSSES] = {
	[RX_LOSS_RING_FULL] = "ring_full",
	[RX_LOSS_NO_FRAME] = "no_frame",
	[RX_LOSS_TOO_LONG] = "too_long",
	[RX_LOSS_GSO] = "gso",
	[RX_LOSS_TRUNCATED] = "truncated",
	[RX_LOSS_TOO_SHORT] = "too_short",
	[RX_LOSS_BAD_CSUM_REQ] = "bad_csum_request",
};

static const char *const tx_loss_names[TX_LOSSES] = {
	[TX_LOSS_RING_FULL] = "ring_full",
	[TX_LOSS_DOWN] = "down",
	[TX_LOSS_TOO_LONG] = "too_long",
	[TX_LOSS_IO] = "io",
};

const char *port_rx_loss_name(enum port_rx_loss loss)
{
	return loss < RX_LOSSES ? rx_loss_names[loss] : "unknown";
}

const char *port_tx_loss_name(enum port_tx_loss loss)
{
	return loss < TX_LOSSES ? tx_loss_names[loss] : "unknown";
}

static const struct driver *driver_find(const char *kind)
{
	for (uint32_t i = 0; i < N_DRIVERS; i++)
		if (!strcmp(drivers[i].ops->kind, kind))
			return &drivers[i];
	return NULL;
}

const struct port_ops *port_driver_at(uint32_t i)
{
	return i < N_DRIVERS ? drivers[i].ops : NULL;
}

static void list_add(char *list, size_t size, const char *word)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%s", len ? ", " : "", word);
}

static int unknown_kind(const char *text, const char *kind, struct err *err)
{
	char known[256] = "";

	for (uint32_t i = 0; i < N_DRIVERS; i++)
		list_add(known, sizeof(known), drivers[i].ops->kind);
	return err_set(err, EINVAL, "port %s: there is no port kind '%s'; the kinds are %s", text,
		       kind, known);
}

static int unknown_key(const struct driver *d, const struct port_spec *spec, const char *key,
		       struct err *err)
{
	char known[512] = "";

	for (uint32_t i = 0; i < sizeof(d->keys) / sizeof(d->keys[0]) && d->keys[i]; i++)
		list_add(known, sizeof(known), d->keys[i]);
	for (uint32_t i = 0; i < sizeof(common_keys) / sizeof(common_keys[0]); i++)
		list_add(known, sizeof(known), common_keys[i]);
	return err_set(err, EINVAL, "port %s:%s: unknown key '%s'; the keys are %s", spec->kind,
		       spec->arg, key, known);
}

/* Copies up to the next comma (a backslash before a character takes it as it is); returns what follows the
 * comma, or NULL at the end. */
static const char *token_next(const char *text, char *buf, size_t size, bool *ret_too_long)
{
	size_t n = 0;

	for (; *text && *text != ','; text++) {
		if (*text == '\\' && text[1])
			text++;
		if (n + 1 >= size) {
			*ret_too_long = true;
			break;
		}
		buf[n++] = *text;
	}
	buf[n] = 0;
	return *text == ',' ? text + 1 : NULL;
}

static int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	unsigned long long v;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || *end || v < min || v > max)
		return -EINVAL;
	*ret = v;
	return 0;
}

static int mac_parse(const char *text, uint8_t mac[6])
{
	int len = 0;

	if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		   &mac[3], &mac[4], &mac[5], &len) != 6 ||
	    len != 17 || text[len])
		return -EINVAL;
	return 0;
}

/* The keys that every kind has. Returns 1 when the key is none of them. */
static int common_key_parse(struct port_spec *spec, const char *key, const char *value,
			    struct err *err)
{
	uint64_t v;

	if (!strcmp(key, "name")) {
		if (!*value || strlen(value) >= sizeof(spec->name))
			return err_set(err, EINVAL, "name=%s: a name has 1 to %u characters", value,
				       PORT_NAME_LEN - 1);
		strcpy(spec->name, value);
	} else if (!strcmp(key, "ifindex")) {
		if (number_parse(value, 1, INT32_MAX, &v))
			return err_set(err, EINVAL, "ifindex=%s: give a number from 1 to %d", value,
				       INT32_MAX);
		spec->ifindex = (uint32_t)v;
	} else if (!strcmp(key, "mtu")) {
		if (number_parse(value, 68, 65535, &v))
			return err_set(err, EINVAL, "mtu=%s: give a number from 68 to 65535",
				       value);
		spec->mtu = (uint32_t)v;
	} else if (!strcmp(key, "mac")) {
		if (mac_parse(value, spec->mac))
			return err_set(err, EINVAL, "mac=%s: write it as 02:00:00:00:00:01", value);
		spec->has_mac = true;
	} else if (!strcmp(key, "state")) {
		if (strcmp(value, "up") && strcmp(value, "down"))
			return err_set(err, EINVAL, "state=%s: it is up or down", value);
		spec->down = !strcmp(value, "down");
	} else {
		return 1;
	}
	return 0;
}

int port_spec_set(struct port_spec *spec, const char *key, const char *value, struct err *err)
{
	if (spec->n_keys == PORT_KEYS_MAX)
		return err_set(err, EINVAL, "more than %d keys", PORT_KEYS_MAX);
	if (strlen(key) >= sizeof(spec->keys[0].key) ||
	    strlen(value) >= sizeof(spec->keys[0].value))
		return err_set(err, EINVAL, "key %.40s is too long", key);
	for (uint32_t i = 0; i < spec->n_keys; i++)
		if (!strcmp(spec->keys[i].key, key))
			return err_set(err, EINVAL, "key %s is given twice", key);
	strcpy(spec->keys[spec->n_keys].key, key);
	strcpy(spec->keys[spec->n_keys].value, value);
	spec->keys[spec->n_keys++].used = false;
	return 0;
}

static int key_parse(struct port_spec *spec, char *token, struct err *err)
{
	char *value = strchr(token, '=');
	int rc;

	if (value)
		*value++ = 0;
	else
		value = token + strlen(token);
	if (!*token)
		return err_set(err, EINVAL, "an empty key");
	rc = common_key_parse(spec, token, value, err);
	return rc == 1 ? port_spec_set(spec, token, value, err) : rc;
}

static int keys_parse(struct port_spec *spec, const char *rest, struct err *err)
{
	bool too_long = false;
	char token[192];
	int rc;

	while (rest && *rest) {
		rest = token_next(rest, token, sizeof(token), &too_long);
		if (too_long)
			return err_set(err, EINVAL, "a key is longer than %zu characters",
				       sizeof(token) - 1);
		rc = key_parse(spec, token, err);
		if (rc)
			return rc;
	}
	return 0;
}

int port_spec_parse(struct port_spec *ret, const char *text, struct err *err)
{
	size_t kind_len = strcspn(text, ":,");
	const char *rest = text[kind_len] ? text + kind_len + 1 : NULL;
	struct port_spec spec = { 0 };
	const struct driver *d;
	bool too_long = false;
	int rc;

	if (!kind_len || kind_len >= sizeof(spec.kind))
		return err_set(err, EINVAL, "port '%s': write it as kind:argument,key=value", text);
	memcpy(spec.kind, text, kind_len);
	d = driver_find(spec.kind);
	if (!d)
		return unknown_kind(text, spec.kind, err);
	if (d->arg) {
		if (rest && text[kind_len] == ':')
			rest = token_next(rest, spec.arg, sizeof(spec.arg), &too_long);
		if (!*spec.arg || too_long)
			return err_set(err, EINVAL, "port %s: %s: write %s:ARGUMENT, %s", text,
				       too_long ? "the argument is too long" : "no argument",
				       spec.kind, d->arg);
	} else if (rest && text[kind_len] == ':' && *rest == ',') {
		rest++; /* "mem:,len=64": the empty argument written out */
	}
	rc = keys_parse(&spec, rest, err);
	if (rc)
		return err_prefix(err, -rc, "port %s", text);
	*ret = spec;
	return 0;
}

const char *port_spec_key(struct port_spec *spec, const char *key)
{
	for (uint32_t i = 0; i < spec->n_keys; i++) {
		if (strcmp(spec->keys[i].key, key))
			continue;
		spec->keys[i].used = true;
		return spec->keys[i].value;
	}
	return NULL;
}

int port_spec_number(struct port_spec *spec, const char *key, uint64_t min, uint64_t max,
		     uint64_t fallback, uint64_t *ret, struct err *err)
{
	const char *value = port_spec_key(spec, key);

	if (!value) {
		*ret = fallback;
		return 0;
	}
	if (number_parse(value, min, max, ret))
		return err_set(err, EINVAL, "port %s:%s: %s=%s: give a number from %llu to %llu",
			       spec->kind, spec->arg, key, value, (unsigned long long)min,
			       (unsigned long long)max);
	return 0;
}

const char *port_spec_dir(struct port_spec *spec)
{
	const char *dir = port_spec_key(spec, "dir");

	return dir && *dir ? dir : NULL;
}

static bool driver_has_key(const struct driver *d, const char *key)
{
	for (uint32_t i = 0; i < sizeof(d->keys) / sizeof(d->keys[0]) && d->keys[i]; i++)
		if (!strcmp(d->keys[i], key))
			return true;
	return !strcmp(key, "dir");
}

int port_open(struct port **ret, struct port_spec *spec, struct pool *pool, struct err *err)
{
	const struct driver *d = driver_find(spec->kind);

	if (!d)
		return unknown_kind(spec->kind, spec->kind, err);
	/* Before the driver opens anything: a key that is spelt wrong must not leave a file behind. */
	for (uint32_t i = 0; i < spec->n_keys; i++) {
		if (!driver_has_key(d, spec->keys[i].key))
			return unknown_key(d, spec, spec->keys[i].key, err);
		spec->keys[i].used = true;
	}
	return d->ops->open(ret, spec, pool, err);
}

void port_close(struct port *port)
{
	if (port)
		port->ops->close(port);
}

void port_init(struct port *port, const struct port_ops *ops, const struct port_spec *spec)
{
	port->ops = ops;
	snprintf(port->name, sizeof(port->name), "%.*s", PORT_NAME_LEN - 1,
		 *spec->name ? spec->name : spec->arg);
	snprintf(port->kind, sizeof(port->kind), "%s", spec->kind);
	port->ifindex = spec->ifindex;
	port->mtu = spec->mtu ? spec->mtu : 1500;
	memcpy(port->mac, spec->mac, sizeof(port->mac));
	port->up = !spec->down;
	port->n_rx_queues = port->n_tx_queues = 1;
	port->can_rx = port->can_tx = true;
}

int port_lost(struct port *port, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(port->lost, sizeof(port->lost), fmt, ap);
	va_end(ap);
	return -code;
}

void port_return_frames(struct pool *pool, struct frame *const *frames, uint32_t n)
{
	struct pool_cache cache;

	pool_cache_init(&cache, pool);
	for (uint32_t i = 0; i < n; i += BURST_MAX)
		pool_free(&cache, frames + i, n - i < BURST_MAX ? n - i : BURST_MAX);
	pool_cache_fini(&cache);
}
