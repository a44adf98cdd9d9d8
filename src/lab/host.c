/* SPDX-License-Identifier: BSD-2-Clause */
/* What figures are taken on, so that a reader can judge them: see table.h. */
#include "table.h"

#include <sched.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"

/* The first line of a file, or the rest of the line that begins with `prefix`; "" when there is none. */
static void read_line(const char *path, const char *prefix, char *buf, size_t n)
{
	char line[512];
	FILE *f = fopen(path, "re");

	buf[0] = '\0';
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		const char *rest = line + strlen(prefix);

		if (strncmp(line, prefix, strlen(prefix)) != 0)
			continue;
		rest += strspn(rest, "\t :");
		snprintf(buf, n, "%.*s", (int)strcspn(rest, "\n"), rest);
		break;
	}
	fclose(f);
}

json_t *host_describe(void)
{
	char cpu[256], flags[16], jit[16], spectre[256], affinity[64], rate[64];
	struct utsname uts = { 0 };

	uname(&uts);
	read_line("/proc/cpuinfo", "model name", cpu, sizeof(cpu));
	read_line("/proc/sys/net/core/bpf_jit_enable", "", jit, sizeof(jit));
	read_line("/sys/devices/system/cpu/vulnerabilities/spectre_v2", "", spectre,
		  sizeof(spectre));
	read_line("/sys/devices/system/cpu/smt/active", "", flags, sizeof(flags));
	snprintf(affinity, sizeof(affinity), "CPU %d", sched_getcpu());
	snprintf(rate, sizeof(rate), "%.0f MHz", clock_cycles_per_ns() * 1e3);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "cpu", cpu, "tsc", rate, "kernel",
			 uts.release, "kernel bpf jit", jit, "spectre_v2", spectre, "smt", flags,
			 "pinned to", affinity);
}
