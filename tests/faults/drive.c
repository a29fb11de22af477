/* The client of the agent that goes wrong. */
#define _GNU_SOURCE
#include "drive.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WATCHDOG_MS = 60000 };

const char *drive_program;

/* ---- Looking at processes -------------------------------------------------------------------- */

int drive_count_fds(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    (void) closedir(dir);
    return count;
}

/* The beginning of a file of /proc as text; its length, 0 when it cannot be read. */
static size_t read_proc(const char *pid, const char *name, char *out, size_t size)
{
    char path[300];
    (void) snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(out, 1, size - 1, file) : 0;
    if (file)
        (void) fclose(file);
    out[n] = '\0';
    return n;
}

bool drive_is_alive(int pid)
{
    char number[20];
    char text[4096];
    (void) snprintf(number, sizeof(number), "%d", pid);
    if (!read_proc(number, "status", text, sizeof(text)))
        return false;
    const char *state = strstr(text, "State:");
    return state && !strstr(state, "Z (zombie)") && !strstr(state, "X (dead)");
}

long drive_rss(int pid)
{
    char number[20];
    char text[4096];
    long kib = 0;
    (void) snprintf(number, sizeof(number), "%d", pid);
    (void) read_proc(number, "status", text, sizeof(text));
    const char *at = strstr(text, "VmRSS:");
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers that fit */
    if (!at || sscanf(at, "VmRSS: %ld", &kib) != 1)
        return 0;
    return kib;
}

int drive_count_marked(const char *mark)
{
    static char text[256 * 1024];
    int count = 0;
    struct dirent *entry;
    DIR *dir = opendir("/proc");
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        if (!isdigit((unsigned char) entry->d_name[0]))
            continue;
        size_t n = read_proc(entry->d_name, "environ", text, sizeof(text));
        count += n && memmem(text, n, mark, strlen(mark));
    }
    (void) closedir(dir);
    return count;
}

/* ---- The client ------------------------------------------------------------------------------ */

uint64_t drive_ms(struct drive *d)
{
    return uv_hrtime() / 1000000 - d->began;
}

static void copy_text(char *out, size_t size, struct acp_str text)
{
    (void) snprintf(out, size, "%.*s", (int) text.len, text.ptr ? text.ptr : "");
}

static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                   const struct acp_outcome *outcome, void *user)
{
    struct drive *d = user;
    (void) session;
    d->ends++;
    d->err = outcome->err;
    d->ended_ms = drive_ms(d);
    copy_text(d->stop, sizeof(d->stop), stop->text);
    copy_text(d->why, sizeof(d->why), outcome->why);
    if (!outcome->err)
        acp_agent_process_stop(d->agent);
}

int drive_prompt(struct drive *d)
{
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from(d->prompt));
    return acp_client_prompt(d->session, &block, 1, on_end, d);
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct drive *d = user;
    (void) client;
    assert_int_equal(outcome->err, 0);
    d->session = session;
    if (d->ready)
        d->ready(d);
    else
        assert_int_equal(drive_prompt(d), 0);
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    static const struct acp_session_params place = {.cwd = ACP_STR("/")};
    struct drive *d = user;
    assert_int_equal(outcome->err, 0);
    assert_true(acp_client_protocol(client) & d->version);
    assert_int_equal(acp_client_new_session(client, &place, on_session, d), 0);
}

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    struct drive *d = user;
    char due[20];
    char text[1001];
    (void) session;
    if (event->kind != ACP_EVENT_CHUNK)
        return;
    copy_text(text, sizeof(text), event->block->text.text);
    int n = snprintf(due, sizeof(due), "%zu", d->chunks);
    if (n < 0 || strncmp(text, due, (size_t) n) != 0)
        d->wrong_chunks++;
    d->chunks++;
    if (d->chunk)
        d->chunk(d);
}

static void on_session_end(struct acp_client_session *session, void *user)
{
    struct drive *d = user;
    d->session_ends++;
    if (d->session == session)
        d->session = NULL;
}

static void on_closed(struct acp_client *client, int reason, void *user)
{
    struct drive *d = user;
    (void) client;
    assert_true(reason < 0);
    d->closed++;
}

static void on_errors(struct acp_agent_process *agent, struct acp_str line, void *user)
{
    struct drive *d = user;
    char text[100];
    (void) agent;
    d->error_bytes += line.len;
    copy_text(text, sizeof(text), line);
    /* NOLINTNEXTLINE(cert-err34-c): our own program writes numbers that fit */
    if (sscanf(text, "grandchild %d", &d->grandchild) == 1)
        assert_true(d->grandchild > 0);
    if (d->error_output)
        d->error_output(d);
}

static void stop_timers(struct drive *d)
{
    uv_close((uv_handle_t *) &d->watchdog, NULL);
    uv_close((uv_handle_t *) &d->timer, NULL);
}

static void on_exited(struct acp_agent_process *agent, const struct acp_process_exit *how,
                      struct acp_str sentence, void *user)
{
    struct drive *d = user;
    (void) how;
    d->exits++;
    d->exited_ms = drive_ms(d);
    copy_text(d->sentence, sizeof(d->sentence), sentence);
    acp_agent_process_free(agent);
    d->agent = NULL;
    d->client = NULL;
    stop_timers(d);
}

/* ---- The run --------------------------------------------------------------------------------- */

static void on_watchdog(uv_timer_t *timer)
{
    struct drive *d = timer->data;
    d->late = true;
    acp_agent_process_free(d->agent);
    d->agent = NULL;
    stop_timers(d);
}

void drive_start(struct drive *d)
{
    static int number;
    d->fds = drive_count_fds();
    d->began = uv_hrtime() / 1000000;
    (void) snprintf(d->mark, sizeof(d->mark), "ACP_FAULT_RUN=%d.%d", (int) getpid(), number++);
    const char *argv[] = {drive_program, NULL};
    const char *env[] = {d->mark, NULL};
    struct acp_agent_process_options options = {
        .process = {.argv = argv, .env = env, .grace_ms = 300, .term_ms = 300},
        .client = {.versions = d->version, .peer.max_output = d->max_output},
        .handler = {.event = on_event, .end_session = on_session_end, .closed = on_closed},
        .user = d,
        .errors = on_errors,
        .exited = on_exited,
    };
    struct acp_failure failure = {0};
    assert_int_equal(uv_loop_init(&d->loop), 0);
    assert_int_equal(uv_timer_init(&d->loop, &d->watchdog), 0);
    assert_int_equal(uv_timer_init(&d->loop, &d->timer), 0);
    d->watchdog.data = d;
    d->timer.data = d;
    assert_int_equal(uv_timer_start(&d->watchdog, on_watchdog, WATCHDOG_MS, 0), 0);
    if (acp_agent_process_start(&d->loop, &options, &d->agent, &failure))
        fail_msg("%s", failure.message);
    d->client = acp_agent_process_client(d->agent);
    d->pid = acp_process_pid(acp_agent_process_process(d->agent));
    assert_int_equal(acp_client_initialize(d->client, on_ready, d), 0);
}

void drive_for(struct drive *d, uint64_t ms)
{
    uint64_t until = drive_ms(d) + ms;
    while (d->agent && drive_ms(d) < until) {
        (void) uv_run(&d->loop, UV_RUN_NOWAIT);
        (void) usleep(1000);
    }
}

void drive_finish(struct drive *d)
{
    assert_int_equal(uv_run(&d->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&d->loop), 0);
    if (d->late)
        fail_msg("\"%s\" in version %u was still at it after %d ms", d->prompt,
                 d->version == ACP_V1 ? 1 : 2, WATCHDOG_MS);
    assert_int_equal(d->exits, 1);
    assert_int_equal(d->closed, 1);
    assert_null(d->session);
    assert_non_null(strstr(d->sentence, "fault_agent"));
    /* Nothing is left: no child, not even a dead one, nothing that it started, no descriptor. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_false(drive_is_alive(d->pid));
    assert_int_equal(drive_count_marked(d->mark), 0);
    assert_int_equal(acp_process_count(), 0);
    assert_int_equal(drive_count_fds(), d->fds);
}
