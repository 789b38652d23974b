// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/identity.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/log.h"

static int find_groups(struct identity *identity)
{
	int nr = 0;

	/* Says how many there are; between the two calls there can be more. */
	getgrouplist(identity->name, identity->gid, NULL, &nr);
	do {
		gid_t *groups =
			reallocarray(identity->groups, (size_t)nr, sizeof(*groups));

		if (!groups)
			return -ENOMEM;
		identity->groups = groups;
	} while (getgrouplist(identity->name, identity->gid, identity->groups, &nr) < 0);
	identity->nr_groups = nr;
	return 0;
}

static int fill_in(struct identity *identity, const struct passwd *user)
{
	identity->uid = user->pw_uid;
	identity->gid = user->pw_gid;
	identity->name = strdup(user->pw_name);
	identity->home = strdup(*user->pw_dir ? user->pw_dir : "/");
	identity->shell = strdup(*user->pw_shell ? user->pw_shell : "/bin/sh");
	if (!identity->name || !identity->home || !identity->shell)
		return -ENOMEM;
	return find_groups(identity);
}

int identity__find(const char *name, struct identity *ret)
{
	struct identity identity = {};
	const struct passwd *user;
	int err;

	errno = 0;
	user = getpwnam(name);
	if (!user) {
		err = errno ? -errno : -ENOENT;
		/* What getpwnam(3) has for a user that isn't there */
		if (err == -ENOENT || err == -ESRCH || err == -EBADF || err == -EPERM) {
			pr_err("there is no user %s, to run the command as", name);
			return -ENOENT;
		}
		pr_err("can't look up the user %s: %s", name, strerror(-err));
		return err;
	}
	if (geteuid()) {
		pr_err("only root can run a command as %s: use sudo", name);
		return -EPERM;
	}
	err = fill_in(&identity, user);
	if (err) {
		pr_err("no memory for the groups of %s", name);
		identity__release(&identity);
		return err;
	}
	*ret = identity;
	return 0;
}

/* Also where "no setuid fixup" is set, with which setresuid(2) keeps them all. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

static int set_environment(const struct identity *identity)
{
	if (setenv("HOME", identity->home, 1) || setenv("USER", identity->name, 1) ||
	    setenv("LOGNAME", identity->name, 1) || setenv("SHELL", identity->shell, 1))
		return -errno;
	return 0;
}

int identity__assume(const struct identity *identity)
{
	int err;

	if (setgroups((size_t)identity->nr_groups, identity->groups) ||
	    setresgid(identity->gid, identity->gid, identity->gid) ||
	    setresuid(identity->uid, identity->uid, identity->uid))
		return -errno;
	/* That was all for root, who is to have what root has. */
	err = identity->uid ? drop_capabilities() : 0;
	return err ? err : set_environment(identity);
}

int identity__access(const struct identity *identity, const char *path, int mode)
{
	int status, err;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		err = identity__assume(identity);
		if (!err && access(path, mode))
			err = -errno;
		_exit(-err);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	/* Every errno is small enough for an exit status. */
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

void identity__release(struct identity *identity)
{
	free(identity->name);
	free(identity->home);
	free(identity->shell);
	free(identity->groups);
	*identity = (struct identity){};
}
