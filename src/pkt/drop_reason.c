/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of drop reasons: see drop_reason.h. */
#include "pkt/drop_reason.h"

#include <errno.h>

static const char *const names[] = {
#define X(id, name, text) name,
#include "pkt/drop_reasons.def"
#undef X
};

static const char *const texts[] = {
#define X(id, name, text) text,
#include "pkt/drop_reasons.def"
#undef X
};

const char *drop_reason_name(enum drop_reason reason)
{
	return reason < DROP_REASONS ? names[reason] : "unknown";
}

const char *drop_reason_text(enum drop_reason reason)
{
	return reason < DROP_REASONS ? texts[reason] : "unknown";
}

enum drop_reason drop_reason_redirect(int error)
{
	switch (error < 0 ? -error : error) {
	case EOPNOTSUPP:
		return DROP_REDIRECT_EOPNOTSUPP;
	case ENETDOWN:
		return DROP_REDIRECT_ENETDOWN;
	case EMSGSIZE:
		return DROP_REDIRECT_EMSGSIZE;
	case EBADRQC:
		return DROP_REDIRECT_EBADRQC;
	case EOVERFLOW:
		return DROP_REDIRECT_EOVERFLOW;
	case ENOMEM:
		return DROP_REDIRECT_ENOMEM;
	case ENOENT:
		return DROP_REDIRECT_ENOENT;
	case ENXIO:
		return DROP_REDIRECT_ENXIO;
	case ENOSPC:
		return DROP_REDIRECT_ENOSPC;
	default:
		return DROP_REDIRECT_EINVAL;
	}
}
