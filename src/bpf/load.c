/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening and loading objects through libbpf on weir's own bpf(2): see load.h. */
#include "bpf/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf/btf.h"
#include "bpf/elf_file.h"
#include "bpf/legacy.h"
#include "bpf/object_impl.h"
#include "bpf/sys.h"
#include "bpf/sys_impl.h"

enum {
	FILE_MAX = 256 << 20, /* bytes: a thousand times the largest object in use */
};

static const char running_btf[] = "/sys/kernel/btf/vmlinux";

/* The bytes of a file, as the caller's memory. */
static int read_all(int fd, void **ret, size_t size, struct err *err)
{
	uint8_t *bytes = malloc(size + 1);
	size_t got = 0;

	if (!bytes)
		return err_set(err, ENOMEM, "no memory for %zu bytes", size);
	while (got < size) {
		ssize_t n = read(fd, bytes + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int rc = n < 0 ? errno : EIO;

			free(bytes);
			return err_set(err, rc, "cannot be read: %s", strerror(rc));
		}
		got += (size_t)n;
	}
	*ret = bytes;
	return 0;
}

static int read_file(void **ret, size_t *ret_size, const char *path, struct err *err)
{
	struct stat st;
	int fd, rc;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_set(err, errno, "cannot be opened: %s", strerror(errno));
	if (fstat(fd, &st))
		rc = err_set(err, errno, "cannot be read: %s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = err_set(err, EINVAL, "not a file");
	else if (st.st_size > FILE_MAX)
		rc = err_set(err, EFBIG, "larger than %d MiB: not an object", FILE_MAX >> 20);
	else
		rc = read_all(fd, ret, (size_t)st.st_size, err);
	if (!rc)
		*ret_size = (size_t)st.st_size;
	close(fd);
	return rc;
}

/* What libbpf said, with a remedy where there is a known one. */
static int open_failed(const struct elf_file *file, int rc, const char *line, struct err *err)
{
	if (strstr(line, "BTF is required") ||
	    (elf_section_find(file, ".maps") && !elf_section_find(file, ".BTF")))
		return err_set(err, rc, "its maps need BTF, and it has none: rebuild with -g");
	if (line[0])
		return err_set(err, rc, "%s", line);
	return err_set(err, rc, "libbpf does not open it: %s", strerror(rc));
}

/* The name that libbpf takes for the maps of global data. */
static void object_name(char *ret, size_t size, const char *path)
{
	const char *base = strrchr(path, '/');

	snprintf(ret, size, "%s", base ? base + 1 : path);
	ret[strcspn(ret, ".")] = '\0';
	if (!ret[0])
		snprintf(ret, size, "object");
}

/* CO-RE wants the BTF of a kernel: the one asked for, else the running one's, where there is one. */
static const char *core_btf(const struct object_cfg *cfg)
{
	if (cfg->btf_path)
		return cfg->btf_path;
	return access(running_btf, R_OK) ? NULL : running_btf;
}

/* Opens obj->bytes; the text of a failure does not name the file. */
static int open_bytes(struct object *obj, struct err *err)
{
	struct elf_file file;
	char name[64];
	const char *line;
	int rc;
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = name,
		    .btf_custom_path = core_btf(&obj->cfg), .pin_root_path = obj->cfg.pin_dir);

	rc = elf_file_open(&file, obj->bytes, obj->size, err);
	if (!rc)
		rc = elf_check_externs(&file, err);
	if (rc)
		return rc;
	object_name(name, sizeof(name), obj->path);
	object_log_begin();
	obj->bpf = bpf_object__open_mem(obj->bytes, obj->size, &opts);
	rc = obj->bpf ? 0 : errno;
	line = object_log_end();
	return rc ? open_failed(&file, rc, line, err) : 0;
}

static int open_object(struct object *obj, const struct object_cfg *cfg, struct err *err)
{
	int rc;

	rc = read_file(&obj->bytes, &obj->size, obj->path, err);
	if (!rc)
		rc = legacy_rewrite(&obj->bytes, &obj->size, err);
	if (!rc)
		rc = open_bytes(obj, err);
	if (rc)
		return err_prefix(err, -rc, "%s", obj->path);
	rc = object_sort_progs(obj, cfg, err);
	return rc ? rc : object_check_maps(obj, cfg, err);
}

static bool copy_text(const char **ret, const char *text)
{
	*ret = text ? strdup(text) : NULL;
	return *ret || !text;
}

static bool copy_cfg(struct object *obj, const char *path, const struct object_cfg *cfg)
{
	obj->cfg.engine = cfg->engine;
	obj->path = strdup(path);
	return obj->path && copy_text(&obj->cfg.prog, cfg->prog) &&
	       copy_text(&obj->cfg.btf_path, cfg->btf_path) &&
	       copy_text(&obj->cfg.pin_dir, cfg->pin_dir);
}

int object_open(struct object **ret, const char *path, const struct object_cfg *cfg,
		struct err *err)
{
	struct object *obj = calloc(1, sizeof(*obj));
	int rc;

	if (!obj)
		return err_set(err, ENOMEM, "no memory for an object");
	if (!copy_cfg(obj, path, cfg))
		rc = err_set(err, ENOMEM, "no memory for an object");
	else
		rc = open_object(obj, cfg, err);
	if (!rc && cfg->pin_dir)
		rc = pin_set_dir(cfg->pin_dir);
	if (rc) {
		object_close(obj);
		return rc;
	}
	*ret = obj;
	return 0;
}

/* weir's own words when bpf(2) said no, else libbpf's. */
static int load_failed(const struct object *obj, int rc, const char *line, struct err *err)
{
	struct err own;
	char kfunc[128];

	if (sscanf(line, "extern (func ksym) '%127[^']'", kfunc) == 1 && !sys_is_pass_through())
		return err_set(err, rc, "%s: kernel function %s is not provided by weir", obj->path,
			       kfunc);
	sys_take_error(&own);
	if (own.text[0])
		return err_set(err, rc, "%s: %s", obj->path, own.text);
	if (line[0])
		return err_set(err, rc, "%s: %s", obj->path, line);
	return err_set(err, rc, "%s does not load: %s", obj->path, errno_name(rc));
}

static int load_once(struct object *obj, struct err *err)
{
	const char *line;
	struct err old;
	int rc;

	sys_take_error(&old);
	sys_set_engine(obj->cfg.engine);
	vmlinux_set_object(bpf_object__btf(obj->bpf));
	object_log_begin();
	rc = bpf_object__load(obj->bpf);
	line = object_log_end();
	vmlinux_set_object(NULL);
	return rc ? load_failed(obj, -rc, line, err) : 0;
}

/*
 * The wanted program alone, after a failure with all: another one of the object may be the cause. An object of libbpf is
 * loaded once, so this is a second one, with what was set in the first. *err stays as it is unless this succeeds.
 */
static int load_wanted(struct object *obj, int rc)
{
	struct bpf_object *first = obj->bpf;
	struct object_cfg quiet = obj->cfg;
	struct err err;

	obj->bpf = NULL;
	if (!open_bytes(obj, &err) && !object_sort_progs(obj, &quiet, &err) &&
	    !object_check_maps(obj, &quiet, &err)) {
		object_copy_state(obj, first);
		object_keep_wanted(obj);
		if (!load_once(obj, &err))
			rc = 0;
	}
	bpf_object__close(first);
	return rc;
}

int object_load(struct object *obj, struct err *err)
{
	int rc;

	if (obj->loaded)
		return err_set(err, EALREADY, "%s is loaded already", obj->path);
	obj->loaded = true;
	rc = load_once(obj, err);
	if (rc && obj->cfg.prog)
		rc = load_wanted(obj, rc);
	free(obj->bytes);
	obj->bytes = NULL;
	if (rc || sys_is_pass_through()) /* there they are the kernel's */
		return rc;
	rc = object_take_maps(obj, err);
	return rc ? rc : object_take_progs(obj, err);
}

void object_close(struct object *obj)
{
	if (!obj)
		return;
	for (uint32_t i = 0; i < obj->n_progs; i++)
		prog_put(obj->progs[i]);
	for (uint32_t i = 0; i < obj->n_maps; i++)
		map_put(obj->maps[i]);
	bpf_object__close(obj->bpf);
	free(obj->progs);
	free(obj->sections);
	free(obj->maps);
	free(obj->bytes);
	free((char *)obj->cfg.prog);
	free((char *)obj->cfg.btf_path);
	free((char *)obj->cfg.pin_dir);
	free(obj->path);
	free(obj);
}

const char *object_path(const struct object *obj)
{
	return obj->path;
}

struct bpf_object *object_libbpf(struct object *obj)
{
	return obj->bpf;
}
