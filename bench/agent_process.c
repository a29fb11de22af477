/* agent_process.c - an agent process on two pipes. */
#include "agent_process.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct agent_process agent_process_start(const char *const *argv, const char *const *environment)
{
    struct agent_process agent = {0};
    int to[2];
    int from[2];
    if (pipe(to) || pipe(from))
        abort();
    agent.pid = fork();
    if (agent.pid == 0) {
        (void) dup2(to[0], 0);
        (void) dup2(from[1], 1);
        for (int i = 0; i < 2; i++) {
            (void) close(to[i]);
            (void) close(from[i]);
        }
        (void) execve(argv[0], (char *const *) argv,
                      environment ? (char *const *) environment : environ);
        _exit(127);
    }
    (void) close(to[0]);
    (void) close(from[1]);
    agent.to = fdopen(to[1], "w");
    agent.from = fdopen(from[0], "r");
    return agent;
}

void agent_process_stop(struct agent_process *agent)
{
    (void) fclose(agent->to);
    (void) waitpid(agent->pid, NULL, 0);
    (void) fclose(agent->from);
    free(agent->line);
}

const char *agent_process_ask(struct agent_process *agent, const char *method, const char *params,
                              agent_line_fn *each, void *user)
{
    char answer[64];
    int n = snprintf(answer, sizeof(answer), "{\"jsonrpc\":\"2.0\",\"id\":%u,", ++agent->asked);
    (void) fprintf(agent->to, "%s\"method\":\"%s\",\"params\":%s}\n", answer, method, params);
    (void) fflush(agent->to);
    while (getline(&agent->line, &agent->room, agent->from) > 0) {
        if (strncmp(agent->line, answer, (size_t) n) == 0) {
            if (strncmp(agent->line + n, "\"result\"", 8) == 0)
                return agent->line;
            break;
        }
        if (each)
            each(agent->line, user);
    }
    (void) fprintf(stderr, "%s was answered with: %s\n", method, agent->line ? agent->line : "");
    exit(1);
}

void agent_process_initialize(struct agent_process *agent)
{
    (void) agent_process_ask(agent, "initialize", "{\"protocolVersion\":1}", NULL, NULL);
}

void agent_process_await(struct agent_process *agent, const char *text)
{
    while (getline(&agent->line, &agent->room, agent->from) > 0)
        if (strstr(agent->line, text))
            return;
    (void) fprintf(stderr, "there was no line with %s\n", text);
    exit(1);
}

long agent_process_resident(const struct agent_process *agent)
{
    char path[64];
    char line[256];
    long kib = 0;
    (void) snprintf(path, sizeof(path), "/proc/%d/status", (int) agent->pid);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    if (status)
        (void) fclose(status);
    return kib;
}
