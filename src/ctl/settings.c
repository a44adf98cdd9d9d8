/* SPDX-License-Identifier: BSD-2-Clause */
/* Switches of an instance by their dotted names (--set, and nested keys of the configuration file). */
#include "ctl/instance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum setting_kind { SETTING_CHOICE, SETTING_NUMBER, SETTING_BOOL };

/* Choices are in the order of their enum, whose values start at 0; all members are 4 bytes but for bool. */
static const struct setting {
	const char *key;
	enum setting_kind kind;
	size_t offset;
	const char *choices[4];
	uint32_t min, max;
} settings[] = {
	{ .key = "redirect.flush",
	  .kind = SETTING_CHOICE,
	  .offset = offsetof(struct engine_cfg, flush),
	  .choices = { "burst", "packet" } },
	{ .key = "engine.prefetch",
	  .kind = SETTING_CHOICE,
	  .offset = offsetof(struct engine_cfg, prefetch),
	  .choices = { "none", "read", "write" } },
	{ .key = "engine.prefetch_distance",
	  .kind = SETTING_NUMBER,
	  .offset = offsetof(struct engine_cfg, prefetch_distance),
	  .min = 1,
	  .max = BURST_MAX - 1 },
	{ .key = "engine.burst",
	  .kind = SETTING_NUMBER,
	  .offset = offsetof(struct engine_cfg, burst),
	  .min = 1,
	  .max = BURST_MAX },
	{ .key = "engine.frames",
	  .kind = SETTING_NUMBER,
	  .offset = offsetof(struct engine_cfg, n_frames),
	  .min = 1024,
	  .max = 1 << 20 },
	{ .key = "engine.pin", .kind = SETTING_BOOL, .offset = offsetof(struct engine_cfg, pin) },
};

enum { N_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static int unknown_key(const char *key, struct err *err)
{
	char list[512] = "";
	size_t len = 0;

	for (int i = 0; i < N_SETTINGS; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					settings[i].key);
	return err_set(err, EINVAL, "there is no switch '%.100s'; there are %s", key, list);
}

static int choice_set(const struct setting *s, const char *value, uint32_t *where, struct err *err)
{
	char list[128] = "";
	size_t len = 0;

	for (uint32_t i = 0; i < 4 && s->choices[i]; i++) {
		if (strcmp(value, s->choices[i]) == 0) {
			*where = i;
			return 0;
		}
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					s->choices[i]);
	}
	return err_set(err, EINVAL, "%s: '%.100s' is none of %s", s->key, value, list);
}

static int number_set(const struct setting *s, const char *value, uint32_t *where, struct err *err)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(value, &end, 0);
	if (errno || *end || value[0] < '0' || value[0] > '9' || number < s->min || number > s->max)
		return err_set(err, EINVAL, "%s: '%.100s' is not a number from %u to %u", s->key,
			       value, s->min, s->max);
	*where = (uint32_t)number;
	return 0;
}

static int bool_set(const struct setting *s, const char *value, bool *where, struct err *err)
{
	bool yes =
		strcmp(value, "true") == 0 || strcmp(value, "yes") == 0 || strcmp(value, "on") == 0;
	bool no = strcmp(value, "false") == 0 || strcmp(value, "no") == 0 ||
		  strcmp(value, "off") == 0;

	if (!yes && !no)
		return err_set(err, EINVAL, "%s: '%.100s' is neither true nor false", s->key,
			       value);
	*where = yes;
	return 0;
}

int settings_apply(struct engine_cfg *cfg, const char *key, const char *value, struct err *err)
{
	_Static_assert(sizeof(enum redirect_flush) == 4 && sizeof(enum engine_prefetch) == 4,
		       "choices are stored as uint32_t");

	for (int i = 0; i < N_SETTINGS; i++) {
		const struct setting *s = &settings[i];
		void *where = (char *)cfg + s->offset;

		if (strcmp(key, s->key) != 0)
			continue;
		if (s->kind == SETTING_CHOICE)
			return choice_set(s, value, where, err);
		if (s->kind == SETTING_NUMBER)
			return number_set(s, value, where, err);
		return bool_set(s, value, where, err);
	}
	return unknown_key(key, err);
}
