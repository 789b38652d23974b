// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/pid_namespaces.h"

#include <sys/stat.h>

#include "util/format.h"
#include "util/log.h"

void pid_namespaces__init(struct pid_namespaces *namespaces)
{
	struct stat st;

	*namespaces = (struct pid_namespaces){};
	if (!stat("/proc/self/ns/pid", &st))
		namespaces->own = st.st_ino;
}

uint32_t pid_namespaces__offset(struct pid_namespaces *namespaces, uint64_t pid_namespace)
{
	size_t i;

	if (!pid_namespace || !namespaces->own || pid_namespace == namespaces->own)
		return 0;
	for (i = 0; i < namespaces->nr_others; i++)
		if (namespaces->others[i] == pid_namespace)
			return (uint32_t)(i + 1) * GPU_LOG_NAMESPACE_STEP;
	if (i == PID_NAMESPACES_MAX) {
		namespaces->nr_too_many++;
		return GPU_LOG_NAMESPACE_STEP;
	}
	namespaces->others[namespaces->nr_others++] = pid_namespace;
	return (uint32_t)(i + 1) * GPU_LOG_NAMESPACE_STEP;
}

void pid_namespaces__tell(const struct pid_namespaces *namespaces)
{
	struct format_buf step, processes;

	if (namespaces->nr_others)
		pr_info("%zu other pid namespace%s: pids are shown higher, by %s for "
			"each",
			namespaces->nr_others, namespaces->nr_others == 1 ? "" : "s",
			format__count(GPU_LOG_NAMESPACE_STEP, &step));
	if (namespaces->nr_too_many)
		pr_warning("%s processes may be taken for others of the same pid: they "
			   "are of more than %d pid namespaces",
			   format__count(namespaces->nr_too_many, &processes),
			   PID_NAMESPACES_MAX);
}
