/*
 * A conversation with many subscribers: what an event costs for each of them, what a conversation
 * takes in memory without its text, and what attaching to one costs.  The agent is in the same
 * process, so the agent's own work is part of every row.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acp/types.h"
#include "bench.h"
#include "conversation/conversation.h"
#include "memory_agent.h"

enum { EVENTS = 2000, MANY = 1000, CONVERSATIONS = 200, ROUNDS = 5 };

static uv_loop_t loop;
static struct acp_policy *policy;
static uint64_t delivered;
static bool stopped;

static void on_event(struct subscriber *s, const struct session_event *event, void *user)
{
    (void) s;
    (void) event;
    (void) user;
    delivered++;
}

static void on_stopped(struct conversation *c, void *user)
{
    (void) c;
    (void) user;
    stopped = true;
}

static const struct subscriber_handler viewer = {.event = on_event};
static const struct conversation_handler handler = {.stopped = on_stopped};

static struct conversation *open_conversation(struct memory_agent *agent)
{
    struct conversation *c = NULL;
    const struct conversation_options options = {
        .agent = acp_str_from("memory"),
        .endpoint = &agent->endpoint,
        .place = {.cwd = acp_str_from("/tmp")},
        .session = acp_str_from("0199-bench"),
        .policy = policy,
    };
    if (conversation_new(&loop, &options, NULL, NULL, &handler, NULL, &c))
        abort();
    return c;
}

static void prompt(struct conversation *c, const char *text)
{
    static const struct prompt_options options = {0};
    char body[100];
    (void) snprintf(body, sizeof(body), "{\"prompt\":[{\"type\":\"text\",\"text\":\"%s\"}]}", text);
    if (conversation_prompt(c, acp_raw_from(body), &options, NULL))
        abort();
    (void) uv_run(&loop, UV_RUN_DEFAULT);
}

static void close_conversation(struct conversation *c)
{
    stopped = false;
    conversation_stop(c);
    while (!stopped)
        (void) uv_run(&loop, UV_RUN_ONCE);
    conversation_free(c);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
}

/* Nanoseconds of one turn with that many subscribers, in the best round. */
static double turn_time(size_t subscribers)
{
    struct memory_agent agent;
    double best = 0;
    char say[40];
    memory_agent_init(&agent);
    struct conversation *c = open_conversation(&agent);
    for (size_t i = 0; i < subscribers; i++) {
        struct subscriber *s;
        if (conversation_subscribe(c, 0, &viewer, NULL, &s))
            abort();
    }
    (void) snprintf(say, sizeof(say), "say %d", EVENTS);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begin = bench_now();
        prompt(c, say);
        double took = (double) (bench_now() - begin);
        if (i == 0 || took < best)
            best = took;
    }
    close_conversation(c);
    return best;
}

static size_t heap(void)
{
    return mallinfo2().uordblks;
}

/* With one subscriber and a turn behind it; the agent's role and the client's are part of it. */
static double memory_of_one(void)
{
    static struct memory_agent agents[CONVERSATIONS];
    static struct conversation *conversations[CONVERSATIONS];
    size_t before = heap();
    for (size_t i = 0; i < CONVERSATIONS; i++) {
        struct subscriber *s;
        memory_agent_init(&agents[i]);
        conversations[i] = open_conversation(&agents[i]);
        if (conversation_subscribe(conversations[i], 0, &viewer, NULL, &s))
            abort();
        prompt(conversations[i], "say 20");
    }
    double each = (double) (heap() - before) / CONVERSATIONS;
    for (size_t i = 0; i < CONVERSATIONS; i++)
        close_conversation(conversations[i]);
    return each;
}

static double attach_time(size_t before)
{
    struct memory_agent agent;
    struct subscriber *s;
    enum { TRIES = 200 };
    memory_agent_init(&agent);
    struct conversation *c = open_conversation(&agent);
    prompt(c, "say 10");
    for (size_t i = 0; i < before; i++)
        if (conversation_subscribe(c, 0, &viewer, NULL, &s))
            abort();
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    uint64_t begin = bench_now();
    for (int i = 0; i < TRIES; i++)
        if (conversation_subscribe(c, 0, &viewer, NULL, &s))
            abort();
    double each = (double) (bench_now() - begin) / TRIES;
    close_conversation(c);
    return each;
}

static const char *verdict(bool reached)
{
    return reached ? "reached" : "NOT REACHED";
}

int main(void)
{
    if (uv_loop_init(&loop) || acp_policy_new(&policy))
        return 1;
    double bytes = memory_of_one();
    printf("%-50s %8.1f KiB  (goal < 64) %s\n", "a conversation in memory, both roles included",
           bytes / 1024, verdict(bytes < 64 * 1024));
    double none = turn_time(0);
    double each = 0;
    static const size_t counts[] = {10, 100, 1000, 4000};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        char what[60];
        each = (turn_time(counts[i]) - none) / EVENTS / (double) counts[i];
        (void) snprintf(what, sizeof(what), "an event to each of %zu subscribers", counts[i]);
        printf("%-50s %8.1f ns   (goal < 50) %s\n", what, each, verdict(each < 50));
    }
    double first = attach_time(0);
    double last = attach_time(MANY);
    printf("%-50s %8.1f ns  the first: %.1f ns\n", "attaching behind 1,000 subscribers", last,
           first);
    bench_use(&delivered);
    acp_policy_free(policy);
    return uv_loop_close(&loop) ? 1 : 0;
}
