// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Settings of the kernel and of this process. Whether record works has been tried
 * by then; these lines are where the reason is found if it doesn't.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "check/check.h"
#include "util/proc.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif

#define BTF_PATH    "/sys/kernel/btf/vmlinux"
#define STATUS_PATH "/proc/self/status"

/* Linux 5.8: BPF ring buffers, CAP_BPF and CAP_PERFMON */
#define OLDEST_KERNEL 0x508
/* Linux 6.6: uprobe_multi links */
#define MULTI_KERNEL 0x606
/* Linux 5.11: BPF memory is no longer charged to RLIMIT_MEMLOCK. */
#define NO_MEMLOCK_KERNEL 0x50b

/* Major and minor version as 0xMMmm; 0 if the name has none */
static unsigned int kernel_version(const struct utsname *uts)
{
	unsigned int major, minor;

	if (sscanf(uts->release, "%u.%u", &major, &minor) != 2)
		return 0;
	return major << 8 | (minor & 0xff);
}

static unsigned int report_kernel(struct report *report, const struct check_facts *facts)
{
	struct utsname uts;
	unsigned int version;
	bool is_old;

	uname(&uts);
	version = kernel_version(&uts);
	is_old = version < OLDEST_KERNEL && !facts->has_probe;
	report__line(report, is_old ? VERDICT_WARN : VERDICT_OK, "kernel", "%s %s, %s",
		     uts.sysname, uts.release, uts.machine);
	report__detail(report, "%s", uts.version);
	if (is_old)
		report__mend(report, "uprobes need Linux 5.8 or later");
	return version;
}

static void report_btf(struct report *report, const struct check_facts *facts)
{
	if (!access(BTF_PATH, R_OK)) {
		report__line(report, VERDICT_OK, "BTF", BTF_PATH);
		return;
	}
	report__line(report, facts->has_probe ? VERDICT_NOTE : VERDICT_WARN, "BTF",
		     BTF_PATH ": %s%s", strerror(errno),
		     facts->has_probe ? "; probes work without" : "");
	if (!facts->has_probe)
		report__mend(report, "boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as the "
				     "distributions' are, and mount /sys");
}

struct capabilities {
	uint64_t effective;
	bool admin, bpf, perfmon;
	int err; /* of reading them */
};

static struct capabilities capabilities__read(void)
{
	struct capabilities caps = {};
	char text[32];

	caps.err = proc__read_value(STATUS_PATH, "CapEff", text, sizeof(text));
	if (!caps.err)
		caps.effective = strtoull(text, NULL, 16);
	caps.admin = caps.effective >> CAP_SYS_ADMIN & 1;
	caps.bpf = caps.effective >> CAP_BPF & 1;
	caps.perfmon = caps.effective >> CAP_PERFMON & 1;
	return caps;
}

static bool capabilities__are_enough(const struct capabilities *caps)
{
	return caps->admin || (caps->bpf && caps->perfmon);
}

static const char *missing_capabilities(const struct capabilities *caps)
{
	if (caps->bpf)
		return "CAP_PERFMON is missing";
	if (caps->perfmon)
		return "CAP_BPF is missing";
	return "CAP_BPF and CAP_PERFMON are missing";
}

static void mend_capabilities(struct report *report, unsigned int kernel)
{
	char path[PATH_MAX] = "perf-gpu";
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length > 0)
		path[length] = '\0';
	report__mend(report, "run it as root: sudo perf-gpu record ...");
	report__mend(report,
		     "or, for all who may execute it: sudo setcap "
		     "cap_bpf,cap_perfmon%s+ep %s",
		     kernel < MULTI_KERNEL ? ",cap_sys_admin" : "", path);
}

static void report_capabilities(struct report *report, const struct check_facts *facts,
				const struct capabilities *caps, unsigned int kernel)
{
	if (caps->err) {
		report__line(report, VERDICT_WARN, "capabilities",
			     "not known: can't read %s: %s", STATUS_PATH,
			     strerror(-caps->err));
		return;
	}
	if (caps->admin) {
		report__line(report, VERDICT_OK, "capabilities",
			     "CAP_SYS_ADMIN, which is all of them here");
	} else if (!capabilities__are_enough(caps)) {
		report__line(report, VERDICT_WARN, "capabilities", "%s",
			     missing_capabilities(caps));
		mend_capabilities(report, kernel);
	} else if (facts->has_probe || kernel >= MULTI_KERNEL) {
		report__line(report, VERDICT_OK, "capabilities",
			     "CAP_BPF and CAP_PERFMON, which are enough here");
	} else {
		report__line(
			report, VERDICT_WARN, "capabilities",
			"CAP_BPF and CAP_PERFMON; without uprobe_multi (Linux 6.6) a "
			"uprobe takes CAP_SYS_ADMIN");
		mend_capabilities(report, kernel);
	}
	report__detail(report, "effective: %016" PRIx64, caps->effective);
}

static void report_paranoid(struct report *report, const struct check_facts *facts,
			    const struct capabilities *caps)
{
	static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
	char text[32];

	if (proc__read_line(path, text, sizeof(text))) {
		report__line(report, VERDICT_WARN, "perf events",
			     "the kernel has none: there is no %s", path);
		report__mend(report, "boot a kernel with CONFIG_PERF_EVENTS=y");
	} else if (caps->admin || caps->perfmon) {
		report__line(report, VERDICT_NOTE, "paranoid",
			     "perf_event_paranoid is %s; it does not bind this user",
			     text);
	} else {
		report__line(report, facts->has_sideband ? VERDICT_NOTE : VERDICT_WARN,
			     "paranoid",
			     "perf_event_paranoid is %s: without CAP_PERFMON this user "
			     "may %s",
			     text,
			     facts->has_sideband ? "watch own processes only"
						 : "not even watch own processes");
	}
}

/* Only older kernels charge BPF maps to it; libbpf raises it where it may. */
static void report_memlock(struct report *report, const struct check_facts *facts,
			   unsigned int kernel)
{
	struct rlimit limit;

	if (kernel >= NO_MEMLOCK_KERNEL || getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	if (facts->has_probe || limit.rlim_cur == RLIM_INFINITY) {
		report__line(report, VERDICT_OK, "memlock", "large enough for BPF maps");
		return;
	}
	report__line(report, VERDICT_WARN, "memlock",
		     "RLIMIT_MEMLOCK is %llu KiB, and this kernel charges BPF maps to it",
		     (unsigned long long)limit.rlim_cur >> 10);
	report__mend(report, "ulimit -l unlimited");
}

/* Who locks processes in, by the marks each leaves; NULL: nobody known */
static const char *find_container(void)
{
	static const struct {
		const char *path, *name;
	} marks[] = {
		{"/.dockerenv", "Docker"},
		{"/run/.containerenv", "Podman"},
		{"/run/host/container-manager", "systemd-nspawn"},
	};
	static const struct {
		const char *text, *name;
	} groups[] = {
		{"docker", "Docker"},	      {"libpod", "Podman"},
		{"kubepods", "Kubernetes"},   {"lxc", "LXC"},
		{"containerd", "containerd"},
	};
	char line[512] = "";

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (!access(marks[i].path, F_OK))
			return marks[i].name;
	if (getenv("KUBERNETES_SERVICE_HOST"))
		return "Kubernetes";
	proc__read_line("/proc/1/cgroup", line, sizeof(line));
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (strstr(line, groups[i].text))
			return groups[i].name;
	return NULL;
}

/* Capabilities of such a namespace are none outside, where BPF and perf are. */
static bool is_in_user_namespace(void)
{
	unsigned long inside, outside, nr;
	char line[128];

	if (proc__read_line("/proc/self/uid_map", line, sizeof(line)) ||
	    sscanf(line, "%lu %lu %lu", &inside, &outside, &nr) != 3)
		return false;
	return outside != 0 || nr != 0xffffffff;
}

static void report_container(struct report *report, const struct check_facts *facts,
			     const struct capabilities *caps)
{
	bool works = facts->has_probe && facts->has_rings && facts->has_sideband;
	const char *container = find_container();
	bool has_namespace = is_in_user_namespace();
	bool has_filter, is_bound;
	char seccomp[8] = "0";

	proc__read_value(STATUS_PATH, "Seccomp", seccomp, sizeof(seccomp));
	has_filter = strcmp(seccomp, "0") != 0;
	is_bound = container || has_namespace || has_filter;
	report__line(report, is_bound && !works ? VERDICT_WARN : VERDICT_NOTE,
		     "container", "%s%s%s%s", container ? container : "none",
		     container ? "" : " that is known",
		     has_filter ? "; a seccomp filter binds this process" : "",
		     has_namespace ? "; in a user namespace, whose capabilities are not "
				     "the machine's"
				   : "");
	if (works)
		return;
	if (has_filter)
		report__mend(report, "let the filter pass bpf and perf_event_open%s",
			     container ? ": --security-opt seccomp=unconfined" : "");
	if (container && !capabilities__are_enough(caps))
		report__mend(report, "start the container with --cap-add BPF --cap-add "
				     "PERFMON, or --privileged");
	if (has_namespace)
		report__mend(report, "record outside of the user namespace (rootless "
				     "containers and unshare -r make one)");
}

static void report_ptrace(struct report *report)
{
	char text[8];

	if (proc__read_line("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)))
		snprintf(text, sizeof(text), "off");
	report__line(report, VERDICT_NOTE, "ptrace scope",
		     "%s; record starts its command and needs no ptrace", text);
}

void check__system(struct report *report, const struct check_facts *facts)
{
	struct capabilities caps = capabilities__read();
	unsigned int kernel;

	kernel = report_kernel(report, facts);
	report_btf(report, facts);
	report_capabilities(report, facts, &caps, kernel);
	report_paranoid(report, facts, &caps);
	report_memlock(report, facts, kernel);
	report_container(report, facts, &caps);
	report_ptrace(report);
}
