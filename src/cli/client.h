/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands on a running instance share: one request through the control socket. */
#ifndef WEIR_CLI_CLIENT_H
#define WEIR_CLI_CLIENT_H

#include <jansson.h>

/* Sends the request (takes the reference) and returns the answer's "result" in *ret, a new reference; else
 * prints one line and returns EXIT_FAILED. control NULL: the only instance that runs. */
int client_ask(const char *control, json_t *request, json_t **ret);
/* The JSON on stdout, in one line. */
int client_print_json(const json_t *json);
/* Bytes as bpftool prints them: ["0x0a", "0x00"] becomes "0a 00". */
void client_print_bytes(const json_t *bytes);

#endif
