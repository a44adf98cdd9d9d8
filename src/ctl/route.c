/* SPDX-License-Identifier: BSD-2-Clause */
/* Routes and neighbours of the command line and the configuration file, for bpf_fib_lookup. */
#include "ctl/instance.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "ADDR[/LEN],key=value,..." cut in place. */
struct spec {
	char buf[512];
	char *first;
	uint32_t n;
	struct {
		const char *key, *value;
	} pairs[16];
};

static int spec_cut(struct spec *spec, const char *what, const char *text, struct err *err)
{
	char *save = NULL, *word;

	spec->n = 0;
	if (strlen(text) >= sizeof(spec->buf))
		return err_set(err, EINVAL, "%s '%.40s...': longer than %zu characters", what, text,
			       sizeof(spec->buf) - 1);
	strcpy(spec->buf, text);
	spec->first = strtok_r(spec->buf, ",", &save);
	if (!spec->first)
		return err_set(err, EINVAL, "%s '%s': it begins with an address", what, text);
	while ((word = strtok_r(NULL, ",", &save))) {
		char *eq = strchr(word, '=');

		if (!eq || spec->n == sizeof(spec->pairs) / sizeof(spec->pairs[0]))
			return err_set(err, EINVAL, "%s '%s': '%s' is not key=value", what, text,
				       word);
		*eq = '\0';
		spec->pairs[spec->n].key = word;
		spec->pairs[spec->n++].value = eq + 1;
	}
	return 0;
}

static int address_parse(const char *text, uint8_t *ret_family, uint8_t *addr)
{
	if (inet_pton(AF_INET, text, addr) == 1) {
		*ret_family = AF_INET;
		return 0;
	}
	if (inet_pton(AF_INET6, text, addr) == 1) {
		*ret_family = AF_INET6;
		return 0;
	}
	return -EINVAL;
}

static int number_parse(const char *text, unsigned long max, unsigned long *ret)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &end, 0);
	if (errno || *end || text[0] < '0' || text[0] > '9' || number > max)
		return -EINVAL;
	*ret = number;
	return 0;
}

static void host_bits_clear(uint8_t *addr, uint8_t prefix_len)
{
	for (uint32_t bit = prefix_len; bit < 8 * NET_ADDR; bit++)
		addr[bit / 8] &= (uint8_t) ~(0x80u >> (bit % 8));
}

/* "10.0.0.0/8", "2001:db8::/32", "10.1.1.1", "default" (IPv4), "::/0". */
static int prefix_parse(char *text, struct net_route *route)
{
	char *slash = strchr(text, '/');
	unsigned long len;
	uint8_t max;

	if (strcmp(text, "default") == 0) {
		route->family = AF_INET;
		return 0;
	}
	if (slash)
		*slash = '\0';
	if (address_parse(text, &route->family, route->dst))
		return -EINVAL;
	max = route->family == AF_INET ? 32 : 128;
	len = max;
	if (slash && number_parse(slash + 1, max, &len))
		return -EINVAL;
	route->prefix_len = (uint8_t)len;
	host_bits_clear(route->dst, route->prefix_len);
	return 0;
}

static int dev_find(struct weir *weir, const char *name, uint32_t *ret_ifindex)
{
	const struct port *port = engine_port_by_name(weir->engine, name);
	const struct net_if *nif = net_if_by_name(engine_net(weir->engine), name);

	if (!port && !nif)
		return -ENODEV;
	*ret_ifindex = port ? port->ifindex : nif->ifindex;
	return 0;
}

static int type_parse(const char *text, uint8_t *ret)
{
	static const struct {
		const char *name;
		uint8_t type;
	} types[] = {
		{ "unicast", RTN_UNICAST },	{ "local", RTN_LOCAL },
		{ "broadcast", RTN_BROADCAST }, { "multicast", RTN_MULTICAST },
		{ "blackhole", RTN_BLACKHOLE }, { "unreachable", RTN_UNREACHABLE },
		{ "prohibit", RTN_PROHIBIT },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(text, types[i].name) == 0) {
			*ret = types[i].type;
			return 0;
		}
	}
	return -EINVAL;
}

static int route_number(const char *key, const char *value, struct net_route *route)
{
	uint32_t *where = strcmp(key, "table") == 0    ? &route->table
			  : strcmp(key, "metric") == 0 ? &route->metric
			  : strcmp(key, "mtu") == 0    ? &route->mtu
						       : NULL;
	unsigned long number;

	if (!where)
		return -ENOENT;
	if (number_parse(value, UINT32_MAX, &number))
		return -EINVAL;
	*where = (uint32_t)number;
	return 0;
}

static int route_pair(struct weir *weir, struct net_route *route, const char *key,
		      const char *value)
{
	uint8_t family;

	if (strcmp(key, "dev") == 0)
		return dev_find(weir, value, &route->ifindex);
	if (strcmp(key, "via") == 0)
		return address_parse(value, &route->gateway_family, route->gateway);
	if (strcmp(key, "src") == 0)
		return address_parse(value, &family, route->prefsrc) || family != route->family
			       ? -EINVAL
			       : 0;
	if (strcmp(key, "type") == 0)
		return type_parse(value, &route->type);
	return route_number(key, value, route);
}

/* What was wrong with key=value. */
static int pair_failed(const char *what, const char *text, const char *key, const char *value,
		       struct err *err)
{
	return err_set(err, EINVAL, "%s '%s': %s=%s: no such address, number or type", what, text,
		       key, value);
}

static int dev_failed(const char *what, const char *text, const char *name, struct err *err)
{
	return err_set(err, EINVAL,
		       "%s '%s': there is no port or interface '%s'; ports come before routes",
		       what, text, name);
}

static int route_parse(struct weir *weir, const char *text, struct net_route *route,
		       struct err *err)
{
	struct spec spec;
	int ret = spec_cut(&spec, "route", text, err);

	if (ret)
		return ret;
	if (prefix_parse(spec.first, route))
		return err_set(err, EINVAL, "route '%s': '%s' is no prefix such as 10.0.0.0/8",
			       text, spec.first);
	for (uint32_t i = 0; i < spec.n; i++) {
		const char *key = spec.pairs[i].key, *value = spec.pairs[i].value;

		ret = route_pair(weir, route, key, value);
		if (ret == -ENODEV)
			return dev_failed("route", text, value, err);
		if (ret == -ENOENT)
			return err_set(
				err, EINVAL,
				"route '%s': unknown key '%s'; there are dev, via, src, type, "
				"table, metric, mtu",
				text, key);
		if (ret)
			return pair_failed("route", text, key, value, err);
	}
	if (!route->ifindex && (route->type == RTN_UNICAST || route->type == RTN_LOCAL))
		return err_set(err, EINVAL, "route '%s': dev=PORT is missing", text);
	return 0;
}

/* Appends a copy of `what` to an array, for a refresh from the kernel. */
static int remember(void **array, uint32_t *n, const void *what, size_t size)
{
	char *larger = realloc(*array, (*n + 1) * size);

	if (!larger)
		return -ENOMEM;
	memcpy(larger + *n * size, what, size);
	*array = larger;
	(*n)++;
	return 0;
}

int weir_route_add(struct weir *weir, const char *text, struct weir_error *werr)
{
	struct err *err = instance_err(werr);
	struct net_route route = { .type = RTN_UNICAST, .table = RT_TABLE_MAIN };
	struct net_edit *edit;
	int ret = instance_engine(weir, err), committed;

	if (!ret)
		ret = route_parse(weir, text, &route, err);
	if (ret)
		return ret;
	edit = net_edit_begin(engine_net(weir->engine));
	if (!edit)
		return err_set(err, ENOMEM, "route '%s': no memory", text);
	ret = net_edit_route(edit, &route);
	committed = net_edit_commit(edit);
	if (ret || committed ||
	    remember((void **)&weir->routes, &weir->n_routes, &route, sizeof(route)))
		return err_set(err, ENOMEM, "route '%s': no memory", text);
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

static int neigh_parse(struct weir *weir, const char *text, struct net_neigh *neigh,
		       struct err *err)
{
	struct spec spec;
	int ret = spec_cut(&spec, "neighbour", text, err);

	if (ret)
		return ret;
	if (address_parse(spec.first, &neigh->family, neigh->addr))
		return err_set(err, EINVAL, "neighbour '%s': '%s' is no address", text, spec.first);
	for (uint32_t i = 0; i < spec.n; i++) {
		const char *key = spec.pairs[i].key, *value = spec.pairs[i].value;

		if (strcmp(key, "dev") == 0) {
			if (dev_find(weir, value, &neigh->ifindex))
				return dev_failed("neighbour", text, value, err);
		} else if (strcmp(key, "mac") == 0) {
			if (mac_parse(value, neigh->mac))
				return pair_failed("neighbour", text, key, value, err);
			neigh->valid = true;
		} else {
			return err_set(err, EINVAL,
				       "neighbour '%s': unknown key '%s'; there are dev and mac",
				       text, key);
		}
	}
	if (!neigh->ifindex || !neigh->valid)
		return err_set(err, EINVAL, "neighbour '%s': dev=PORT and mac=MAC are needed",
			       text);
	return 0;
}

int weir_neigh_add(struct weir *weir, const char *text, struct weir_error *werr)
{
	struct err *err = instance_err(werr);
	struct net_neigh neigh = { 0 };
	struct net_edit *edit;
	int ret = instance_engine(weir, err), committed;

	if (!ret)
		ret = neigh_parse(weir, text, &neigh, err);
	if (ret)
		return ret;
	edit = net_edit_begin(engine_net(weir->engine));
	if (!edit)
		return err_set(err, ENOMEM, "neighbour '%s': no memory", text);
	ret = net_edit_neigh(edit, &neigh);
	committed = net_edit_commit(edit);
	if (ret || committed ||
	    remember((void **)&weir->neighs, &weir->n_neighs, &neigh, sizeof(neigh)))
		return err_set(err, ENOMEM, "neighbour '%s': no memory", text);
	return 0;
}
