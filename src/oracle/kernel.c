/* SPDX-License-Identifier: BSD-2-Clause */
/* weir's end of the oracle: starts the helper process and asks it. See kernel.h; the other end is helper.c. */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle/wire.h"

struct kernel_oracle {
	int fd;
	pid_t pid;
};

static const char *helper_path = "/proc/self/exe";

void kernel_oracle_set_helper(const char *path)
{
	helper_path = path;
}

static int start_helper(struct kernel_oracle *oracle, struct err *err)
{
	char number[16];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(err, errno, "oracle: no socket pair: %s", strerror(errno));
	oracle->pid = fork();
	if (!oracle->pid) {
		fcntl(pair[1], F_SETFD, 0); /* the one descriptor that the helper inherits */
		snprintf(number, sizeof(number), "%d", pair[1]);
		execl(helper_path, "weir", "__oracle", number, (char *)NULL);
		_exit(127);
	}
	close(pair[1]);
	oracle->fd = pair[0];
	if (oracle->pid > 0)
		return 0;
	close(pair[0]);
	return err_set(err, errno, "oracle: no process for the helper: %s", strerror(errno));
}

static json_t *ifs_json(const struct kernel_oracle_cfg *cfg)
{
	json_t *ifs = json_array();

	for (uint32_t i = 0; i < cfg->n_ifs; i++) {
		const struct kernel_if *kif = &cfg->ifs[i];

		json_array_append_new(ifs,
				      json_pack("{s:i, s:i, s:b, s:b}", "ifindex",
						(int)kif->ifindex, "mtu", (int)kif->mtu, "down",
						kif->down, "peer_drops", kif->peer_drops));
	}
	return ifs;
}

static json_t *globals_json(const struct kernel_oracle_cfg *cfg)
{
	json_t *globals = json_array();

	for (uint32_t i = 0; i < cfg->n_globals; i++)
		json_array_append_new(globals, json_string(cfg->globals[i]));
	return globals;
}

/* Sends a request and receives its answer, whose bytes the caller frees. */
static int ask(struct kernel_oracle *oracle, enum wire_type type, const struct wire_run *run,
	       const void *bytes, uint32_t len, void **ret_answer, uint32_t *ret_len,
	       struct err *err)
{
	struct wire_head head = { .type = type };
	int rc = wire_send(oracle->fd, &head, run, run ? sizeof(*run) : 0, bytes, len);

	if (!rc)
		rc = wire_recv(oracle->fd, &head, ret_answer);
	if (rc)
		return err_set(err, EIO, "oracle: the helper process has ended: %s",
			       errno_name(rc));
	if (head.error) {
		err_set(err, EIO, "%s", (const char *)*ret_answer);
		free(*ret_answer);
		return head.error;
	}
	*ret_len = head.len;
	return 0;
}

int kernel_oracle_open(struct kernel_oracle **ret, const struct kernel_oracle_cfg *cfg,
		       struct err *err)
{
	struct kernel_oracle *oracle = calloc(1, sizeof(*oracle));
	json_t *json = json_pack("{s:s, s:s?, s:s?, s:i, s:o, s:o, s:O?}", "object", cfg->object,
				 "prog", cfg->prog, "btf", cfg->btf, "cpu", (int)cfg->cpu, "ifs",
				 ifs_json(cfg), "globals", globals_json(cfg), "maps", cfg->maps);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	void *answer;
	uint32_t len;
	int rc;

	json_decref(json);
	if (!oracle || !text) {
		rc = err_set(err, ENOMEM, "oracle: no memory");
		goto err_free;
	}
	rc = start_helper(oracle, err);
	if (rc)
		goto err_free;
	rc = ask(oracle, WIRE_OPEN, NULL, text, (uint32_t)strlen(text), &answer, &len, err);
	if (rc)
		goto err_close;
	free(answer);
	free(text);
	*ret = oracle;
	return 0;

err_close:
	kernel_oracle_close(oracle);
	oracle = NULL;
err_free:
	free(text);
	free(oracle);
	return rc;
}

void kernel_oracle_close(struct kernel_oracle *oracle)
{
	if (!oracle)
		return;
	close(oracle->fd); /* the helper ends at the end of its input */
	waitpid(oracle->pid, NULL, 0);
	free(oracle);
}

static int take_answer(struct kernel_answer *ret, const char *answer, uint32_t n, struct err *err)
{
	struct wire_ran ran;

	if (n < sizeof(ran))
		return err_set(err, EIO, "oracle: an answer of %u bytes", n);
	memcpy(&ran, answer, sizeof(ran));
	answer += sizeof(ran);
	n -= (uint32_t)sizeof(ran);
	if (ran.error)
		return err_set(err, -ran.error, "BPF_PROG_TEST_RUN does not take the packet: %s",
			       errno_name(ran.error));
	if (ran.meta_len > n || ran.meta_len > sizeof(ret->meta) ||
	    n - ran.meta_len > sizeof(ret->bytes))
		return err_set(err, EIO, "oracle: an answer of %u bytes", n);
	ret->verdict = ran.verdict;
	ret->meta_len = ran.meta_len;
	ret->len = n - ran.meta_len;
	memcpy(ret->meta, answer, ran.meta_len);
	memcpy(ret->bytes, answer + ran.meta_len, ret->len);
	return 0;
}

int kernel_oracle_run(struct kernel_oracle *oracle, uint32_t ifindex, uint32_t rx_queue,
		      const uint8_t *bytes, uint32_t len, struct kernel_answer *ret,
		      struct err *err)
{
	struct wire_run run = { .ifindex = ifindex, .rx_queue = rx_queue, .repeat = 1 };
	uint32_t n = 0;
	char *answer;
	int rc = ask(oracle, WIRE_RUN, &run, bytes, len, (void **)&answer, &n, err);

	if (rc)
		return rc;
	rc = take_answer(ret, answer, n, err);
	free(answer);
	return rc;
}

int kernel_oracle_maps(struct kernel_oracle *oracle, json_t **ret, struct err *err)
{
	uint32_t len = 0;
	char *answer;
	int rc = ask(oracle, WIRE_MAPS, NULL, NULL, 0, (void **)&answer, &len, err);

	if (rc)
		return rc;
	*ret = json_loads(answer, 0, NULL);
	free(answer);
	return *ret ? 0 : err_set(err, EIO, "oracle: maps that are no JSON");
}

int kernel_oracle_live(struct kernel_oracle *oracle, const uint8_t *bytes, uint32_t len,
		       uint32_t repeat, uint64_t *ret_ns, struct err *err)
{
	struct wire_run run = { .repeat = repeat };
	uint32_t n = 0;
	char *answer;
	int rc = ask(oracle, WIRE_LIVE, &run, bytes, len, (void **)&answer, &n, err);

	if (rc)
		return rc;
	rc = n == sizeof(*ret_ns) ? 0 : err_set(err, EIO, "oracle: a time of %u bytes", n);
	if (!rc)
		memcpy(ret_ns, answer, sizeof(*ret_ns));
	free(answer);
	return rc;
}
