/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of a YAML text, by libyaml's document: see yaml_lines.h. */
#include "ctl/yaml_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct yaml_lines {
	yaml_document_t doc;
};

int yaml_lines_create(struct yaml_lines **ret_lines, const char *name, const char *text, size_t len,
		      struct err *err)
{
	struct yaml_lines *lines = calloc(1, sizeof(*lines));
	yaml_parser_t parser;
	int ret = 0;

	if (!lines || !yaml_parser_initialize(&parser)) {
		free(lines);
		return err_set(err, ENOMEM, "%s: no memory", name);
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &lines->doc)) {
		ret = err_set(err, EINVAL, "%s:%zu: no YAML: %s", name,
			      parser.problem_mark.line + 1,
			      parser.problem ? parser.problem : "unreadable");
		free(lines);
	} else {
		*ret_lines = lines;
	}
	yaml_parser_delete(&parser);
	return ret;
}

void yaml_lines_destroy(struct yaml_lines *lines)
{
	if (!lines)
		return;
	yaml_document_delete(&lines->doc);
	free(lines);
}

static uint32_t line_of(const yaml_node_t *node)
{
	return (uint32_t)node->start_mark.line + 1;
}

static bool is_text(const yaml_node_t *node, const char *text)
{
	return node && node->type == YAML_SCALAR_NODE && node->data.scalar.length == strlen(text) &&
	       memcmp(node->data.scalar.value, text, node->data.scalar.length) == 0;
}

/* The pair of a mapping with that key, or NULL. */
static const yaml_node_pair_t *pair_find(yaml_document_t *doc, const yaml_node_t *node,
					 const char *key)
{
	if (!node || node->type != YAML_MAPPING_NODE)
		return NULL;
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		if (is_text(yaml_document_get_node(doc, pair->key), key))
			return pair;
	}
	return NULL;
}

/* Steps to the value of a key; returns whether it was there, *line following along. */
static bool key_step(yaml_document_t *doc, const yaml_node_t **node, const char *key,
		     uint32_t *line)
{
	const yaml_node_pair_t *pair = pair_find(doc, *node, key);

	if (!pair)
		return false;
	*line = line_of(yaml_document_get_node(doc, pair->key));
	*node = yaml_document_get_node(doc, pair->value);
	return true;
}

uint32_t yaml_lines_find(const struct yaml_lines *lines, const char *a, const char *b, int index)
{
	yaml_document_t *doc = (yaml_document_t *)&lines->doc; /* libyaml has no const */
	const yaml_node_t *node = yaml_document_get_root_node(doc);
	const yaml_node_item_t *item;
	uint32_t line = 1;

	if (!key_step(doc, &node, a, &line) || (b && !key_step(doc, &node, b, &line)))
		return line;
	if (index < 0 || !node || node->type != YAML_SEQUENCE_NODE)
		return line;
	item = node->data.sequence.items.start + index;
	return item < node->data.sequence.items.top ? line_of(yaml_document_get_node(doc, *item))
						    : line;
}

uint32_t yaml_lines_key(const struct yaml_lines *lines, const char *key, uint32_t from)
{
	yaml_document_t *doc = (yaml_document_t *)&lines->doc;
	uint32_t best = UINT32_MAX;

	for (const yaml_node_t *node = doc->nodes.start; node < doc->nodes.top; node++) {
		const yaml_node_pair_t *pair = pair_find(doc, node, key);
		uint32_t line = pair ? line_of(yaml_document_get_node(doc, pair->key)) : UINT32_MAX;

		if (line >= from && line < best)
			best = line;
	}
	return best == UINT32_MAX ? from : best;
}
