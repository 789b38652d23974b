// SPDX-License-Identifier: GPL-2.0-or-later
/* Which NVTX ranges are open, and what a log is told of them: nvtx_open.c */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "nvtx_names.h"
#include "nvtx_open.h"
#include "sidecar/sidecar.h"

static char spool[] = "/tmp/test-nvtx-open.XXXXXX";
static struct log *log_of_test;

static struct log *open_log(void)
{
	CHECK(mkdtemp(spool) != NULL);
	CHECK_EQ(log__open(spool, 0x1234, false, &log_of_test), 0);
	return log_of_test;
}

/* What the log has by now; it is gone then. */
static struct sidecar *read_log(void)
{
	struct sidecar *sidecar = NULL;
	char path[128];

	log__flush(log_of_test);
	snprintf(path, sizeof(path), "%s/%d-%016llx.gpulog", spool, (int)getpid(),
		 (unsigned long long)log__id(log_of_test));
	CHECK_EQ(sidecar__open(path, &sidecar), 0);
	unlink(path);
	rmdir(spool);
	return sidecar;
}

/* What is in the log by now: "push mine:a, pop mine, start b 1, end 1" */
static const char *told(void)
{
	static const char *const words[] = {"?", "push", "pop", "start", "end", "mark"};
	static char text[8192];
	struct sidecar *sidecar = read_log();
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < sidecar->nr_nvtx; i++) {
		const struct sidecar_nvtx *it = &sidecar->nvtx[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 i ? ", " : "", words[it->operation]);
		if (*it->domain || *it->name)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 " %s%s%s", it->domain,
						 *it->domain ? ":" : "", it->name);
		if (it->range)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %d",
						 (int)it->range);
	}
	sidecar__close(sidecar);
	return text;
}

TEST(depths_are_the_domain_s)
{
	CHECK_EQ(nvtx_open__push(NULL, "a"), 0);
	CHECK_EQ(nvtx_open__push("mine", "b"), 0);
	CHECK_EQ(nvtx_open__push(NULL, "c"), 1);
	CHECK_EQ(nvtx_open__push("mine", "d"), 1);
	CHECK_EQ(nvtx_open__pop(NULL), 1);
	CHECK_EQ(nvtx_open__pop(NULL), 0);
	CHECK_EQ(nvtx_open__pop(NULL), -1);
	CHECK_EQ(nvtx_open__pop("mine"), 1);
	CHECK_EQ(nvtx_open__pop("mine"), 0);
}

TEST(a_log_is_told_of_what_is_open_and_what_comes)
{
	struct log *log = open_log();

	nvtx_open__push(NULL, "before");
	nvtx_open__push("mine", NULL);
	nvtx_open__push(NULL, "gone");
	nvtx_open__pop(NULL);
	nvtx_open__start(NULL, "s", 77);
	nvtx_open__record(log);
	nvtx_open__push(NULL, "within");
	nvtx_open__mark("mine", "m");
	nvtx_open__end(NULL, 77);
	nvtx_open__end(NULL, 77);
	nvtx_open__pop(NULL);
	nvtx_open__stop();
	nvtx_open__push(NULL, "unheard");
	nvtx_open__mark(NULL, "unheard");
	nvtx_open__start(NULL, "t", 78);
	nvtx_open__record(log);
	nvtx_open__pop(NULL);
	CHECK_STR(told(), "push before, push mine:, start s 1, "
			  "push within, mark mine:m, end 1, pop, "
			  "pop mine:, pop, "
			  "push before, push mine:, push unheard, start t 2, pop");
}

TEST(long_names_are_kept_whole)
{
	char name[300];
	struct log *log = open_log();

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	nvtx_open__push(NULL, name);
	memset(name, 'x', sizeof(name) - 1);
	nvtx_open__record(log);
	memset(name, 'n', sizeof(name) - 1);
	CHECK_STR(told() + strlen("push "), name);
}

static void *push_and_leave(void *unused)
{
	(void)unused;
	nvtx_open__push(NULL, "left");
	return NULL;
}

TEST(a_thread_s_end_is_the_end_of_its_ranges)
{
	struct log *log = open_log();
	pthread_t thread;

	nvtx_open__record(log);
	CHECK_EQ(pthread_create(&thread, NULL, push_and_leave, NULL), 0);
	pthread_join(thread, NULL);
	nvtx_open__stop();
	CHECK_STR(told(), "push left, pop");
}

TEST(what_is_too_deep_is_left_out_and_said)
{
	struct log *log = open_log();
	struct sidecar *sidecar;
	size_t nr_pushes = 0;

	nvtx_open__record(log);
	for (int i = 0; i < NVTX_MAX_THREAD_RANGES + 5; i++)
		CHECK_EQ(nvtx_open__push(NULL, "r"), i);
	for (int i = NVTX_MAX_THREAD_RANGES + 4; i >= 0; i--)
		CHECK_EQ(nvtx_open__pop(NULL), i);
	CHECK_EQ(nvtx_open__pop(NULL), -1);
	sidecar = read_log();
	for (size_t i = 0; i < sidecar->nr_nvtx; i++)
		nr_pushes += sidecar->nvtx[i].operation == GPU_LOG_NVTX_PUSH;
	CHECK_EQ(nr_pushes, NVTX_MAX_THREAD_RANGES);
	CHECK_EQ(sidecar->nr_nvtx, 2 * NVTX_MAX_THREAD_RANGES);
	CHECK_EQ(sidecar->nr_messages, 1);
	CHECK(strstr(sidecar->messages[0].text, "more than 1024 NVTX ranges"));
	sidecar__close(sidecar);
}

TEST(ids_are_our_own)
{
	uint64_t first = nvtx_open__new_id(), second = nvtx_open__new_id();

	CHECK(first != second);
	CHECK(nvtx_open__is_own_id(first) && nvtx_open__is_own_id(second));
	CHECK(!nvtx_open__is_own_id(0) && !nvtx_open__is_own_id(1000));
	CHECK(!nvtx_open__is_own_id((uintptr_t)&first));
}

/* Until @is_over: as long as recording goes on and off, whoever is scheduled when */
static void *work(void *is_over)
{
	for (uint64_t i = 0; !atomic_load((atomic_bool *)is_over); i++) {
		nvtx_open__push(NULL, "loop");
		nvtx_open__start("mine", "x", i);
		nvtx_open__end("mine", i);
		nvtx_open__pop(NULL);
	}
	return NULL;
}

/* Whatever happens meanwhile: each range in the log begins once and ends once. */
TEST(recording_goes_on_and_off_while_threads_work)
{
	struct log *log = open_log();
	pthread_t threads[4];
	struct sidecar *sidecar;
	int open = 0, started = 0;
	atomic_bool is_over = false;

	for (size_t i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, work, &is_over), 0);
	for (int i = 0; i < 100; i++) {
		nvtx_open__record(log);
		usleep(100);
		nvtx_open__stop();
	}
	atomic_store(&is_over, true);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	sidecar = read_log();
	CHECK(sidecar->nr_nvtx > 0);
	for (size_t i = 0; i < sidecar->nr_nvtx; i++) {
		open += sidecar->nvtx[i].operation == GPU_LOG_NVTX_PUSH;
		open -= sidecar->nvtx[i].operation == GPU_LOG_NVTX_POP;
		started += sidecar->nvtx[i].operation == GPU_LOG_NVTX_START;
		started -= sidecar->nvtx[i].operation == GPU_LOG_NVTX_END;
		CHECK(open >= 0 && open <= 4);
	}
	CHECK_EQ(open, 0);
	CHECK_EQ(started, 0);
	sidecar__close(sidecar);
}

TEST(names_of_handles)
{
	int theirs[2];
	const void *own = nvtx_names__add(NVTX_NAME_DOMAIN, NULL, "mine");

	CHECK(own != NULL);
	CHECK(nvtx_names__add(NVTX_NAME_DOMAIN, NULL, "mine") == own);
	CHECK(nvtx_names__add(NVTX_NAME_STRING, NULL, "mine") != own);
	CHECK_STR(nvtx_names__text(NVTX_NAME_DOMAIN, own), "mine");
	CHECK(!nvtx_names__text(NVTX_NAME_STRING, own));
	CHECK(!nvtx_names__text(NVTX_NAME_DOMAIN, NULL));
	CHECK(!nvtx_names__text(NVTX_NAME_DOMAIN, &theirs[0]));
	CHECK(nvtx_names__add(NVTX_NAME_DOMAIN, &theirs[0], "a") == &theirs[0]);
	CHECK(nvtx_names__add(NVTX_NAME_DOMAIN, &theirs[1], "b") == &theirs[1]);
	CHECK_STR(nvtx_names__text(NVTX_NAME_DOMAIN, &theirs[0]), "a");
	/* The tool uses the handle again. */
	CHECK(nvtx_names__add(NVTX_NAME_DOMAIN, &theirs[0], "c") == &theirs[0]);
	CHECK_STR(nvtx_names__text(NVTX_NAME_DOMAIN, &theirs[0]), "c");
	CHECK_STR(nvtx_names__text(NVTX_NAME_DOMAIN, &theirs[1]), "b");
}
