/* SPDX-License-Identifier: BSD-2-Clause */
/* Legacy maps sections: see legacy.h. */
#include "legacy.h"

#include <errno.h>

#include "bpf/elf_file.h"

int legacy_rewrite(void **bytes, size_t *size, struct err *err)
{
	struct elf_file file;
	int rc = elf_file_open(&file, *bytes, *size, err);

	if (rc)
		return rc;
	return elf_section_find(&file, "maps") ? err_set(err, EOPNOTSUPP, "legacy maps") : 0;
}
