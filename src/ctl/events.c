/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace text, perf and ring-buffer records as lines: see events.h. */
#include "ctl/events.h"

#include "base/cpu.h"
#include "ctl/value.h"
#include "maps/perf_array.h"
#include "maps/ringbuf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A perf event as the arrays hold it: one a CPU. */
struct sink {
	struct perf_sink perf; /* first */
	struct instance_events *events;
};

struct instance_events {
	struct trace_sink trace; /* first */
	struct weir *weir;
	pthread_mutex_t lock; /* around the callback */
	uint32_t n_sinks;
	struct sink *sinks[CPU_MAX];
};

static void emit(struct instance_events *ev, const char *line)
{
	pthread_mutex_lock(&ev->lock);
	ev->weir->opts.event(ev->weir->opts.event_arg, line);
	pthread_mutex_unlock(&ev->lock);
}

static void emit_json(struct instance_events *ev, json_t *object)
{
	char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;

	if (line)
		emit(ev, line);
	free(line);
	json_decref(object);
}

static void print_trace(struct trace_sink *sink, const char *text)
{
	struct instance_events *ev = (struct instance_events *)sink;
	size_t n = strcspn(text, "\n");
	char line[1100];

	if (ev->weir->opts.event_json) {
		emit_json(ev, json_pack("{s:s, s:s%}", "event", "trace", "text", text, n));
		return;
	}
	snprintf(line, sizeof(line), "trace: %.*s", (int)n, text);
	emit(ev, line);
}

static char *hex_string(const uint8_t *bytes, uint32_t size)
{
	char *text = malloc(2 * (size_t)size + 1);

	for (uint32_t i = 0; text && i < size; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", bytes[i]);
	if (text && !size)
		*text = '\0';
	return text;
}

/* Structs of the kernel's interface that objects carry along; a record is none of them. */
static bool is_kernel_struct(const char *name)
{
	return !strncmp(name, "bpf_", 4) || !strcmp(name, "xdp_md");
}

/* The one named struct of that size in the object's BTF; 0 when there is none, or more than one. */
static uint32_t struct_of_size(const struct btf *btf, uint32_t size)
{
	uint32_t found = 0;

	for (uint32_t id = 1; btf && id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (!btf_is_struct(t) || t->size != size || !t->name_off ||
		    is_kernel_struct(btf__name_by_offset(btf, t->name_off)))
			continue;
		if (found)
			return 0;
		found = id;
	}
	return found;
}

struct record {
	const char *event; /* "perf", "ringbuf" */
	const struct map *map;
	uint32_t cpu;
	const void *data;
	uint32_t size;
	const void *packet;
	uint32_t packet_size;
};

static json_t *record_data(struct instance_events *ev, const struct record *r,
			   const char **ret_type)
{
	const struct btf *btf = object_btf(ev->weir->object);
	struct value_type type = value_type_of(btf, struct_of_size(btf, r->size), r->size);
	json_t *data = value_format(&type, r->data);
	char *hex;

	*ret_type = NULL;
	if (data) {
		*ret_type = btf__name_by_offset(btf, btf__type_by_id(btf, type.id)->name_off);
		return data;
	}
	hex = hex_string(r->data, r->size);
	data = hex ? json_string(hex) : NULL;
	free(hex);
	return data;
}

static void emit_record(struct instance_events *ev, const struct record *r)
{
	char *packet = r->packet_size ? hex_string(r->packet, r->packet_size) : NULL;
	const char *type;
	json_t *data = record_data(ev, r, &type), *object;
	char *text, *line = NULL;

	if (ev->weir->opts.event_json) {
		object = json_pack("{s:s, s:s, s:i, s:s?, s:o}", "event", r->event, "map",
				   r->map->name, "size", (int)r->size, "type", type, "data", data);
		if (!strcmp(r->event, "perf"))
			json_object_set_new(object, "cpu", json_integer(r->cpu));
		if (packet)
			json_object_set_new(object, "packet", json_string(packet));
		emit_json(ev, object);
	} else {
		text = json_dumps(data, JSON_ENCODE_ANY);
		if (asprintf(&line, "%s %s: %u bytes, %s%s%s%s%s", r->event, r->map->name, r->size,
			     type ? "struct " : "", type ? type : "", type ? " " : "",
			     text ? text : "", packet ? ", with packet bytes" : "") >= 0)
			emit(ev, line);
		free(line);
		free(text);
		json_decref(data);
	}
	free(packet);
}

static int output_perf(struct perf_sink *perf, struct map *map, const void *data, uint32_t size,
		       const void *packet, uint32_t packet_size)
{
	struct sink *sink = (struct sink *)perf;
	struct record r = { "perf", map, perf->cpu, data, size, packet, packet_size };

	if (sink->events)
		emit_record(sink->events, &r);
	return 0;
}

static void sink_release(struct obj *obj)
{
	free(obj);
}

static int sinks_create(struct instance_events *ev)
{
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++) {
		struct sink *sink = calloc(1, sizeof(*sink));

		if (!sink)
			return -ENOMEM;
		obj_init(&sink->perf.obj, OBJ_PERF, sink_release);
		sink->perf.cpu = cpu;
		sink->perf.output = output_perf;
		sink->events = ev;
		ev->sinks[ev->n_sinks++] = sink;
	}
	return 0;
}

static int sinks_attach(struct instance_events *ev, struct map *map, struct err *err)
{
	int rc;

	for (uint32_t cpu = 0; cpu < ev->n_sinks && cpu < map->max_entries; cpu++) {
		rc = perf_array_set(map, cpu, &ev->sinks[cpu]->perf);
		if (rc)
			return err_set(err, -rc, "map %s: no perf event for CPU %u: %s", map->name,
				       cpu, errno_name(rc));
	}
	return 0;
}

int events_attach(struct weir *weir, struct err *err)
{
	struct instance_events *ev;
	struct map *map;
	int rc = 0;

	if (!weir->opts.event)
		return 0;
	ev = weir->events = calloc(1, sizeof(*ev));
	if (!ev)
		return err_set(err, ENOMEM, "out of memory");
	ev->weir = weir;
	ev->trace.print = print_trace;
	pthread_mutex_init(&ev->lock, NULL);
	rc = sinks_create(ev);
	if (rc)
		return err_set(err, -rc, "out of memory");
	for (uint32_t i = 0; (map = object_map_at(weir->object, i)) && !rc; i++) {
		if (map->type == BPF_MAP_TYPE_PERF_EVENT_ARRAY)
			rc = sinks_attach(ev, map, err);
	}
	if (weir->engine)
		engine_run_ctx(weir->engine)->trace = &ev->trace;
	return rc;
}

struct ring {
	struct instance_events *ev;
	struct map *map;
};

static void take_ringbuf(void *arg, const void *data, uint32_t size)
{
	struct ring *ring = arg;
	struct record r = { .event = "ringbuf", .map = ring->map, .data = data, .size = size };

	emit_record(ring->ev, &r);
}

uint32_t events_poll(struct weir *weir)
{
	struct ring ring = { .ev = weir->events };
	uint32_t n = 0;

	for (uint32_t i = 0; ring.ev && (ring.map = object_map_at(weir->object, i)); i++) {
		if (ring.map->type == BPF_MAP_TYPE_RINGBUF)
			n += ringbuf_consume(ring.map, take_ringbuf, &ring);
	}
	return n;
}

struct trace_sink *events_trace_sink(struct instance_events *events)
{
	return events ? &events->trace : NULL;
}

void events_free(struct instance_events *events)
{
	if (!events)
		return;
	/* Maps may hold the sinks for longer than this instance of events lives. */
	for (uint32_t i = 0; i < events->n_sinks; i++) {
		events->sinks[i]->events = NULL;
		obj_put(&events->sinks[i]->perf.obj);
	}
	if (events->weir->engine && engine_run_ctx(events->weir->engine)->trace == &events->trace)
		engine_run_ctx(events->weir->engine)->trace = NULL;
	pthread_mutex_destroy(&events->lock);
	free(events);
}
