/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a frame was dropped: made from drop_reasons.def. */
#ifndef WEIR_PKT_DROP_REASON_H
#define WEIR_PKT_DROP_REASON_H

enum drop_reason {
#define X(id, name, text) DROP_##id,
#include "pkt/drop_reasons.def"
#undef X
	DROP_REASONS,
};

/* "redirect_ENETDOWN" */
const char *drop_reason_name(enum drop_reason reason);
/* "redirect to an interface that is down" */
const char *drop_reason_text(enum drop_reason reason);
/* The reason for a failed redirect with this errno (positive or negative). */
enum drop_reason drop_reason_redirect(int error);

#endif
