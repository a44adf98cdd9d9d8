/* SPDX-License-Identifier: BSD-2-Clause */
/* The accounting as JSON and text: see stats.h. */
#include "ctl/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/run.h>

static const uint64_t RATE_MIN_NS = 100 * 1000 * 1000;

static void put(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

static json_t *dropped_json(const struct engine_totals *totals)
{
	json_t *dropped = json_object();

	for (int i = 0; i < DROP_REASONS; i++) {
		if (totals->dropped[i])
			put(dropped, drop_reason_name((enum drop_reason)i), totals->dropped[i]);
	}
	return dropped;
}

static void port_refresh(struct port *port)
{
	if (port->ops->update_stats)
		port->ops->update_stats(port);
}

static json_t *losses_json(const struct port *port, bool rx)
{
	json_t *losses = json_object();
	int n = rx ? (int)RX_LOSSES : (int)TX_LOSSES;

	for (int i = 0; i < n; i++) {
		uint64_t lost = rx ? port->stats.rx_dropped[i] : port->stats.tx_dropped[i];

		if (lost)
			put(losses,
			    rx ? port_rx_loss_name((enum port_rx_loss)i)
			       : port_tx_loss_name((enum port_tx_loss)i),
			    lost);
	}
	return losses;
}

static json_t *port_json(struct weir *weir, struct port *port)
{
	struct engine_port_totals totals;
	json_t *json = json_object();

	port_refresh(port);
	engine_port_totals(weir->engine, port, &totals);
	json_object_set_new(json, "name", json_string(port->name));
	json_object_set_new(json, "kind", json_string(port->kind));
	put(json, "ifindex", port->ifindex);
	put(json, "received", totals.received);
	put(json, "transmitted", totals.transmitted);
	put(json, "passed", totals.passed);
	put(json, "aborted", totals.aborted);
	put(json, "dropped", totals.dropped);
	put(json, "tx", totals.tx);
	put(json, "redirected", totals.redirected);
	put(json, "rx_bytes", port->stats.rx_bytes);
	put(json, "tx_bytes", port->stats.tx_bytes);
	json_object_set_new(json, "rx_lost", losses_json(port, true));
	json_object_set_new(json, "tx_lost", losses_json(port, false));
	return json;
}

/* The last fault in a line; "" when there was none. Returns how many there were. */
static uint64_t fault_text(struct weir *weir, char *buf, size_t size)
{
	struct fault fault = { 0 };
	uint64_t n = engine_faults(weir->engine, &fault);
	struct obj *obj = n ? obj_by_id(OBJ_PROG, fault.prog_id) : NULL;

	buf[0] = '\0';
	if (obj)
		prog_fault_text((const struct prog *)obj, &fault, buf, size);
	obj_put(obj);
	return n;
}

static json_t *faults_json(struct weir *weir)
{
	json_t *json = json_object();
	char text[1024];

	put(json, "count", fault_text(weir, text, sizeof(text)));
	json_object_set_new(json, "last", text[0] ? json_string(text) : json_null());
	return json;
}

json_t *stats_json(struct weir *weir)
{
	struct engine_totals totals = { 0 };
	json_t *json = json_object(), *ports = json_array();
	struct port *port;

	engine_totals(weir->engine, &totals);
	put(json, "received", totals.received);
	put(json, "generated", totals.generated);
	put(json, "cloned", totals.cloned);
	put(json, "transmitted", totals.transmitted);
	put(json, "passed", totals.passed);
	put(json, "aborted", totals.aborted);
	json_object_set_new(json, "dropped", dropped_json(&totals));
	put(json, "in_flight", totals.in_flight);
	put(json, "duration_ns", weir->run_ns);
	json_object_set_new(json, "engine",
			    json_string(weir->prog_engine == ENGINE_JIT ? "jit" : "interp"));
	for (uint32_t i = 0; (port = engine_port_at(weir->engine, i)); i++)
		json_array_append_new(ports, port_json(weir, port));
	json_object_set_new(json, "ports", ports);
	json_object_set_new(json, "faults", faults_json(weir));
	return json;
}

int weir_run_stats(struct weir *weir, char **ret_json, struct weir_error *werr)
{
	struct err *err = instance_err(werr);
	int ret = instance_engine(weir, err);
	json_t *json = ret ? NULL : stats_json(weir);
	char *text = json_dumps(json, JSON_COMPACT);

	json_decref(json);
	if (ret)
		return ret;
	if (!text)
		return err_set(err, ENOMEM, "no memory for the accounting");
	*ret_json = text;
	return 0;
}

void stats_port_read(struct weir *weir, struct port *port, struct stats_port *ret)
{
	struct engine_port_totals totals;

	port_refresh(port);
	engine_port_totals(weir->engine, port, &totals);
	ret->received = totals.received;
	ret->transmitted = totals.transmitted;
	ret->dropped = totals.dropped + totals.aborted;
	for (int i = 0; i < RX_LOSSES; i++)
		ret->dropped += port->stats.rx_dropped[i];
}

static void dropped_print(const struct engine_totals *totals, FILE *out)
{
	uint64_t sum = 0;

	for (int i = 0; i < DROP_REASONS; i++)
		sum += totals->dropped[i];
	fprintf(out, "dropped      %12" PRIu64 "\n", sum);
	for (int i = 0; i < DROP_REASONS; i++) {
		if (totals->dropped[i])
			fprintf(out, "  %-20s %12" PRIu64 "  %s\n",
				drop_reason_name((enum drop_reason)i), totals->dropped[i],
				drop_reason_text((enum drop_reason)i));
	}
}

static void losses_print(const struct port *port, FILE *out)
{
	for (int i = 0; i < RX_LOSSES; i++) {
		if (port->stats.rx_dropped[i])
			fprintf(out, "    lost before weir had them: %" PRIu64 " %s\n",
				port->stats.rx_dropped[i], port_rx_loss_name((enum port_rx_loss)i));
	}
	for (int i = 0; i < TX_LOSSES; i++) {
		if (port->stats.tx_dropped[i])
			fprintf(out, "    not sent: %" PRIu64 " %s\n", port->stats.tx_dropped[i],
				port_tx_loss_name((enum port_tx_loss)i));
	}
}

static void port_print(struct weir *weir, struct port *port, FILE *out)
{
	struct engine_port_totals t;

	port_refresh(port);
	engine_port_totals(weir->engine, port, &t);
	fprintf(out,
		"  %-12s %-7s ifindex %-4u received %" PRIu64 "  transmitted %" PRIu64
		"  passed %" PRIu64 "  aborted %" PRIu64 "  dropped %" PRIu64 "\n",
		port->name, port->kind, port->ifindex, t.received, t.transmitted, t.passed,
		t.aborted, t.dropped);
	losses_print(port, out);
}

/* Over less than RATE_MIN_NS, starting and stopping would be most of it. */
static void rate_print(const struct weir *weir, uint64_t received, FILE *out)
{
	double seconds = (double)weir->run_ns / 1e9;

	if (weir->run_ns >= RATE_MIN_NS && received)
		fprintf(out, "%.2f s, %.0f pkt/s, %.1f ns a packet\n", seconds,
			(double)received / seconds, (double)weir->run_ns / (double)received);
}

void weir_run_print(struct weir *weir, FILE *out)
{
	struct engine_totals t = { 0 };
	struct port *port;
	char text[1024];
	uint64_t faults;

	if (instance_engine(weir, NULL))
		return;
	engine_totals(weir->engine, &t);
	fprintf(out,
		"received     %12" PRIu64 "\ngenerated    %12" PRIu64 "\ncloned       %12" PRIu64
		"\ntransmitted  %12" PRIu64 "\npassed       %12" PRIu64 "\naborted      %12" PRIu64
		"\n",
		t.received, t.generated, t.cloned, t.transmitted, t.passed, t.aborted);
	dropped_print(&t, out);
	fprintf(out, "in flight    %12" PRIu64 "\nports\n", t.in_flight);
	for (uint32_t i = 0; (port = engine_port_at(weir->engine, i)); i++)
		port_print(weir, port, out);
	faults = fault_text(weir, text, sizeof(text));
	if (faults)
		fprintf(out, "faults       %12" PRIu64 "  last: %s\n", faults, text);
	rate_print(weir, t.received, out);
}
