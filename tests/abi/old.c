/*
 * A program that is compiled with headers of another version than the library, as check-abi makes
 * them: structs whose last members are missing (OLD), or that have members which the library does
 * not know (NEW).  Its structs end where memory ends that it may read, so that a library which
 * reads more than it was given gets a fault.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "acp/client.h"
#include "acp/files.h"
#include "acp/job.h"
#include "acp/run.h"
#include "acp/version.h"
#include "acp/workspace.h"

/* Memory of that size, zeroed, behind which nothing can be read. */
static void *at_the_edge(size_t size)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE);
    size_t room = (size + page - 1) / page * page;
    char *memory =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + room, page, PROT_NONE) != 0)
        abort();
    return memory + room - size;
}

static void must(bool good, const char *what)
{
    if (good)
        return;
    (void) fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    (void) prompt;
    *(int *) user += 1;
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_exited(struct acp_process *process, const struct acp_process_exit *how, void *user)
{
    (void) process;
    *(int *) user = how->code;
}

static void on_outcome(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    (void) client;
    *(int *) user = outcome->err ? outcome->err : 1;
}

/* Both roles, fed with each other's bytes: initialize is answered. */
static void speak(struct acp_client *client, struct acp_agent *agent)
{
    int ready = 0;
    must(acp_client_initialize(client, on_outcome, &ready) == 0, "initialize is sent");
    struct acp_str out = acp_peer_output(acp_client_peer(client));
    must(acp_peer_receive(acp_agent_peer(agent), out.ptr, out.len, 1) == 0, "it is received");
    out = acp_peer_output(acp_agent_peer(agent));
    must(acp_peer_receive(acp_client_peer(client), out.ptr, out.len, 1) == 0, "so is the answer");
    must(ready == 1, "initialize is answered");
}

static void test_roles(void)
{
    struct acp_client_options *o = at_the_edge(sizeof(*o));
    struct acp_client_handler *h = at_the_edge(sizeof(*h));
    struct acp_agent_options *ao = at_the_edge(sizeof(*ao));
    struct acp_agent_handler *ah = at_the_edge(sizeof(*ah));
    struct acp_client *client = NULL;
    struct acp_agent *agent = NULL;
    int prompts = 0;
    o->name = acp_str_n("old", 3);
    ao->name = acp_str_n("old", 3);
    ao->seed[0] = 1;
    ao->seed[1] = 2;
    ah->prompt = on_prompt;
    must(acp_client_new(o, h, NULL, &client) == 0, "a client is made");
    must(acp_agent_new(ao, ah, &prompts, &agent) == 0, "an agent is made");
    speak(client, agent);
    acp_client_free(client);
    acp_agent_free(agent);
#ifdef NEW
    o->added = 1;
    must(acp_client_new(o, NULL, NULL, &client) == ACP_ERR_ARGUMENT,
         "an unknown option is refused");
    ah->added = on_outcome;
    must(acp_agent_new(NULL, ah, NULL, &agent) == ACP_ERR_ARGUMENT, "an unknown callback is, too");
#endif
}

static void test_io(void)
{
    static const char *const argv[] = {"/bin/sh", "-c", "exit 7", NULL};
    struct acp_process_options *o = at_the_edge(sizeof(*o));
    struct acp_process_handler *h = at_the_edge(sizeof(*h));
    struct acp_terminals_options *t = at_the_edge(sizeof(*t));
    struct acp_files_options *f = at_the_edge(sizeof(*f));
    struct acp_process *process = NULL;
    struct acp_terminals *terminals = NULL;
    struct acp_roots *roots = NULL;
    struct acp_str none = acp_str_n(NULL, 0);
    struct acp_str text = none;
    struct acp_files_error error;
    struct acp_failure failure;
    struct acp_opt_i64 all = {ACP_ABSENT, 0};
    struct acp_buf buf;
    uv_loop_t loop;
    int code = -1;
    must(uv_loop_init(&loop) == 0, "a loop is made");
    o->argv = argv;
    h->exited = on_exited;
    must(acp_process_start(&loop, o, h, &code, &process, &failure) == 0, "a process is started");
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    must(code == 7, "it has run");
    acp_process_free(process);
    must(acp_terminals_new(&loop, t, NULL, NULL, &terminals) == 0, "terminals are made");
    acp_terminals_free(terminals);
    acp_buf_init(&buf, 1 << 20);
    struct acp_str_list nothing = {NULL, 0};
    must(acp_roots_new(acp_str_n("/etc", 4), nothing, &roots, &failure) == 0, "a root is opened");
    must(acp_files_read(roots, acp_str_n("/etc/passwd", 11), all, all, f, &buf, &text, &error) == 0,
         "a file is read");
    must(text.len > 0, "it is not empty");
#ifdef NEW
    f->added = 1;
    must(acp_files_read(roots, acp_str_n("/etc/passwd", 11), all, all, f, &buf, &text, &error) ==
             ACP_ERR_ARGUMENT,
         "an unknown option is refused");
    must(error.code == ACP_FILES_FAILED, "and the error says so");
    o->added = 1;
    must(acp_process_start(&loop, o, h, &code, &process, &failure) == ACP_ERR_ARGUMENT,
         "an unknown option of a process is refused");
    must(failure.err == ACP_ERR_ARGUMENT && failure.message[0], "and the failure says why");
#endif
    acp_roots_free(roots);
    acp_buf_finish(&buf);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    must(uv_loop_close(&loop) == 0, "the loop is empty");
}

int main(void)
{
    must(acp_version_number() == ACP_VERSION_NUMBER, "the version is the headers'");
    test_roles();
    test_io();
    return 0;
}
