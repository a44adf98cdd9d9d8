/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OBJ_PIN and OBJ_GET: names for objects, kept in this process under one directory of weir's own, so that
 * programs that are loaded one after the other share maps as they do through a bpffs. Nothing is written
 * to any file system, and the directory need not exist.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/fd.h"
#include "bpf/sys_impl.h"
#include "maps/map.h"

struct pin {
	char *path;
	struct obj *obj; /* owned */
	struct pin *next;
};

static pthread_mutex_t pins_lock = PTHREAD_MUTEX_INITIALIZER;
static char *pin_dir;
static struct pin *pins;

static void pins_free(struct pin *pin)
{
	while (pin) {
		struct pin *next = pin->next;

		if (pin->obj->kind == OBJ_MAP)
			map_uref_put((struct map *)pin->obj);
		obj_put(pin->obj);
		free(pin->path);
		free(pin);
		pin = next;
	}
}

int pin_set_dir(const char *dir)
{
	char *copy = dir ? strdup(dir) : NULL;
	struct pin *old = NULL;

	if (dir && !copy)
		return -ENOMEM;
	pthread_mutex_lock(&pins_lock);
	if (!dir || !pin_dir || strcmp(pin_dir, dir)) {
		old = pins;
		pins = NULL;
	}
	free(pin_dir);
	pin_dir = copy;
	pthread_mutex_unlock(&pins_lock);
	pins_free(old);
	return 0;
}

static bool path_is_ours(const char *path)
{
	size_t n = pin_dir ? strlen(pin_dir) : 0;

	return n && !strncmp(path, pin_dir, n) && (!path[n] || path[n] == '/');
}

bool pin_path_is_ours(const char *path)
{
	bool ours;

	pthread_mutex_lock(&pins_lock);
	ours = path_is_ours(path);
	pthread_mutex_unlock(&pins_lock);
	return ours;
}

static struct pin *pin_find(const char *path)
{
	struct pin *pin = pins;

	while (pin && strcmp(pin->path, path))
		pin = pin->next;
	return pin;
}

/* Below the directory, without a dot in the last name: as a bpffs has it. */
static int check_path(const char *path)
{
	const char *name = strrchr(path, '/');

	if (!path_is_ours(path) || !name || strlen(path) <= strlen(pin_dir) + 1)
		return err_set(sys_err(), EPERM, "%s is not in weir's own pin directory (%s)", path,
			       pin_dir ? pin_dir : "none is set");
	return strchr(name, '.') ? -EPERM : 0;
}

static int pin_add(const char *path, struct obj *obj)
{
	struct pin *pin = calloc(1, sizeof(*pin));

	if (!pin)
		return -ENOMEM;
	pin->path = strdup(path);
	if (!pin->path) {
		free(pin);
		return -ENOMEM;
	}
	pin->obj = obj_get(obj);
	if (obj->kind == OBJ_MAP)
		map_uref_get((struct map *)obj);
	pin->next = pins;
	pins = pin;
	return 0;
}

int sys_obj_pin(union bpf_attr *attr)
{
	const char *path = sys_ptr(attr->pathname);
	struct obj *obj;
	int rc;

	if (attr->file_flags)
		return -EINVAL;
	if (!path)
		return -EFAULT;
	rc = fd_resolve((int)attr->bpf_fd, 0, &obj);
	if (rc)
		return rc;
	pthread_mutex_lock(&pins_lock);
	rc = check_path(path);
	if (!rc)
		rc = pin_find(path) ? -EEXIST : pin_add(path, obj);
	pthread_mutex_unlock(&pins_lock);
	obj_put(obj);
	return rc;
}

int sys_obj_get(union bpf_attr *attr)
{
	static const int modes[] = { O_RDWR, O_RDONLY, O_WRONLY };
	uint32_t flags = attr->file_flags;
	const char *path = sys_ptr(attr->pathname);
	struct pin *pin;
	struct obj *obj;
	int fd;

	if (attr->bpf_fd || flags & ~(uint32_t)(BPF_F_RDONLY | BPF_F_WRONLY) ||
	    flags == (BPF_F_RDONLY | BPF_F_WRONLY))
		return -EINVAL;
	if (!path)
		return -EFAULT;
	pthread_mutex_lock(&pins_lock);
	pin = pin_find(path);
	obj = pin ? obj_get(pin->obj) : NULL;
	pthread_mutex_unlock(&pins_lock);
	if (!obj)
		return -ENOENT;
	if (obj->kind == OBJ_LINK && flags)
		fd = -EINVAL;
	else
		fd = fd_install(obj, obj->kind == OBJ_PROG ? O_RDWR : modes[flags / BPF_F_RDONLY]);
	obj_put(obj);
	return fd;
}
