/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LD_PRELOAD=libold-kernel.so: to who opens perf events through syscall(2), the kernel
 * is one before 5.12, which knows no attr.build_id and says EINVAL to it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...)
{
	static long (*next)(long number, ...);
	long arguments[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open &&
	    ((const struct perf_event_attr *)arguments[0])->build_id) {
		errno = EINVAL;
		return -1;
	}
	if (!next)
		next = (long (*)(long number, ...))dlsym(RTLD_NEXT, "syscall");
	return next(number, arguments[0], arguments[1], arguments[2], arguments[3],
		    arguments[4], arguments[5]);
}
