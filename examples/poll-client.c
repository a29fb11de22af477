/*
 * poll-client - a client on libacp alone, in a loop of its own with poll(2).  It starts an agent,
 * sends it one prompt and prints the answer.
 *
 *     poll-client [-y | -n] [-m MESSAGE] -- AGENT [ARGUMENT...]
 *
 * Permission requests are asked on standard error and answered on standard input, by the number of
 * the option; -y allows and -n rejects them all.
 *
 * Exit status: 0 when the agent ended its turn, 1 when something failed, 2 for wrong arguments, 3
 * when the turn ended for another reason, such as a refusal, which is printed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "acp/client.h"
#include "poll-loop.h"

enum { STATUS_OK, STATUS_FAILED, STATUS_USAGE, STATUS_OTHER_STOP };
enum answer { ANSWER_ASK, ANSWER_ALLOW, ANSWER_REJECT };

/* A permission request that waits for the user.  Texts of a callback do not outlive it: copies. */
struct question {
    struct question *next;
    acp_call call;
    char *text; /* the title and the options, as shown */
    size_t count;
    char *ids[];
};

struct program {
    const char *message;
    enum answer answer;
    struct acp_client *client;
    struct question *questions; /* the first one is shown */
    bool input_ended;           /* of the terminal: nobody answers */
    bool finished;
    int status;
};

static void finish(struct program *program, int status)
{
    program->finished = true;
    program->status = status;
}

static void fail(struct program *program, const char *what, struct acp_str why)
{
    (void) fprintf(stderr, "poll-client: %s: %.*s\n", what, ACP_ARG(why));
    finish(program, STATUS_FAILED);
}

/* ---- Permissions ----------------------------------------------------------------------------- */

static bool allows(const struct acp_permission_option *option)
{
    return option->kind.is == ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE ||
           option->kind.is == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS;
}

static bool rejects(const struct acp_permission_option *option)
{
    return option->kind.is == ACP_PERMISSION_OPTION_KIND_REJECT_ONCE ||
           option->kind.is == ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS;
}

/* By the flag: the first option of that kind, or no answer when none is offered. */
static void answer_by_flag(struct program *program, acp_call call,
                           const struct acp_permission_request *question)
{
    for (size_t i = 0; i < question->options.count; i++) {
        const struct acp_permission_option *option = &question->options.items[i];
        if (program->answer == ANSWER_ALLOW ? allows(option) : rejects(option)) {
            (void) acp_client_select_permission(program->client, call, option->option_id);
            return;
        }
    }
    (void) acp_client_cancel_permission(program->client, call);
}

static void free_question(struct question *question)
{
    for (size_t i = 0; i < question->count; i++)
        free(question->ids[i]);
    free(question->text);
    free(question);
}

static void show_question(const struct program *program)
{
    if (program->questions)
        (void) fputs(program->questions->text, stderr);
}

static char *question_text(const struct acp_permission_request *question)
{
    struct acp_buf text;
    acp_buf_init(&text, (size_t) 64 * 1024);
    int err = acp_buf_printf(&text, "\n%.*s\n", ACP_ARG(question->title));
    for (size_t i = 0; i < question->options.count && !err; i++)
        err =
            acp_buf_printf(&text, "  %zu) %.*s\n", i + 1, ACP_ARG(question->options.items[i].name));
    if (!err)
        err = acp_buf_printf(&text, "number: ");
    char *copy = err ? NULL : acp_str_dup(acp_buf_view(&text));
    acp_buf_finish(&text);
    return copy;
}

static struct question *copy_question(acp_call call, const struct acp_permission_request *from)
{
    struct question *question =
        calloc(1, sizeof(*question) + from->options.count * sizeof(question->ids[0]));
    if (!question)
        return NULL;
    question->call = call;
    question->text = question_text(from);
    bool complete = question->text;
    for (; question->count < from->options.count && complete; question->count++) {
        question->ids[question->count] =
            acp_str_dup(from->options.items[question->count].option_id);
        complete = question->ids[question->count];
    }
    if (complete)
        return question;
    free_question(question);
    return NULL;
}

static void on_permission(struct acp_client_session *session, acp_call call,
                          const struct acp_permission_request *asked, void *user)
{
    struct program *program = user;
    (void) session;
    if (program->answer != ANSWER_ASK) {
        answer_by_flag(program, call, asked);
        return;
    }
    struct question *question = program->input_ended ? NULL : copy_question(call, asked);
    if (!question) {
        (void) acp_client_cancel_permission(program->client, call);
        return;
    }
    struct question **end = &program->questions;
    while (*end)
        end = &(*end)->next;
    *end = question;
    if (end == &program->questions)
        show_question(program);
}

/* Takes out the question of that call, when there is one. */
static void remove_question(struct program *program, acp_call call)
{
    struct question **at = &program->questions;
    while (*at && (*at)->call != call)
        at = &(*at)->next;
    if (!*at)
        return;
    struct question *gone = *at;
    *at = gone->next;
    free_question(gone);
    if (at == &program->questions)
        show_question(program);
}

static void on_permission_gone(struct acp_client_session *session, acp_call call, void *user)
{
    (void) session;
    remove_question(user, call);
}

/* The user typed a line, or closed the terminal. */
static void on_terminal(struct program *program)
{
    struct question *question = program->questions;
    char *line = NULL;
    size_t size = 0;
    if (getline(&line, &size, stdin) < 0) {
        program->input_ended = true;
        (void) fputs("no answer\n", stderr);
        while ((question = program->questions)) {
            program->questions = question->next;
            (void) acp_client_cancel_permission(program->client, question->call);
            free_question(question);
        }
    } else {
        unsigned long number = strtoul(line, NULL, 10);
        if (number < 1 || number > question->count) {
            (void) fprintf(stderr, "a number from 1 to %zu: ", question->count);
        } else {
            acp_call call = question->call;
            (void) acp_client_select_permission(program->client, call,
                                                acp_str_from(question->ids[number - 1]));
            remove_question(program, call);
        }
    }
    free(line);
}

/* ---- The conversation ------------------------------------------------------------------------ */

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    (void) session, (void) user;
    if (event->kind == ACP_EVENT_CHUNK && event->author == ACP_MESSAGE_ROLE_AGENT &&
        event->block->is == ACP_CONTENT_BLOCK_TEXT) {
        printf("%.*s", ACP_ARG(event->block->text.text));
        (void) fflush(stdout);
    }
}

static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                   const struct acp_outcome *outcome, void *user)
{
    struct program *program = user;
    (void) session;
    if (outcome->err) {
        fail(program, "the prompt failed", outcome->why);
        return;
    }
    printf("\n[%.*s]\n", ACP_ARG(stop->text));
    finish(program, stop->reason == ACP_STOP_END_TURN ? STATUS_OK : STATUS_OTHER_STOP);
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct program *program = user;
    struct acp_content_block block;
    if (outcome->err) {
        fail(program, "cannot create a session", outcome->why);
        return;
    }
    acp_content_block_init_text(&block, acp_str_from(program->message));
    if (acp_client_prompt(session, &block, 1, on_end, program))
        fail(program, "cannot send the prompt", acp_client_error_text(client));
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct program *program = user;
    char cwd[4096];
    if (outcome->err) {
        fail(program, "cannot initialize the connection", outcome->why);
        return;
    }
    struct acp_session_params place = {.cwd = acp_str_from(getcwd(cwd, sizeof(cwd)))};
    if (acp_client_new_session(client, &place, on_session, program))
        fail(program, "cannot create a session", acp_client_error_text(client));
}

/* ---- The agent's process --------------------------------------------------------------------- */

static pid_t start_agent(char **argv, int *ret_in, int *ret_out)
{
    int to[2];
    int from[2];
    if (pipe(to))
        return -1;
    if (pipe(from)) {
        (void) close(to[0]);
        (void) close(to[1]);
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void) dup2(to[0], STDIN_FILENO);
        (void) dup2(from[1], STDOUT_FILENO);
        for (int i = 0; i < 2; i++) {
            (void) close(to[i]);
            (void) close(from[i]);
        }
        (void) execvp(argv[0], argv);
        (void) fprintf(stderr, "poll-client: cannot run %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    (void) close(to[0]);
    (void) close(from[1]);
    *ret_in = from[0];
    *ret_out = to[1];
    return pid;
}

/* Whether it has ended within two seconds. */
static bool wait_for(pid_t pid, int *ret_status)
{
    static const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 200; i++) {
        if (waitpid(pid, ret_status, WNOHANG) == pid)
            return true;
        (void) nanosleep(&pause, NULL);
    }
    return false;
}

/* Ends the agent: its input is closed already, then TERM, then KILL.  Returns its wait status. */
static int stop_agent(pid_t pid)
{
    int status = 0;
    if (wait_for(pid, &status))
        return status;
    (void) kill(pid, SIGTERM);
    if (wait_for(pid, &status))
        return status;
    (void) kill(pid, SIGKILL);
    (void) waitpid(pid, &status, 0);
    return status;
}

/* Says how the agent ended to everything that still waits for an answer of it. */
static void explain_end(struct acp_client *client, int status)
{
    char sentence[64];
    if (WIFSIGNALED(status))
        (void) snprintf(sentence, sizeof(sentence), "the agent was killed by signal %d",
                        WTERMSIG(status));
    else
        (void) snprintf(sentence, sizeof(sentence), "the agent exited with status %d",
                        WEXITSTATUS(status));
    acp_client_set_close_message(client, acp_str_from(sentence));
}

/* ---- Main ------------------------------------------------------------------------------------ */

static void run(struct program *program, pid_t pid, int in, int out)
{
    struct acp_endpoint *endpoint = acp_client_endpoint(program->client);
    struct poll_loop loop = {.endpoint = endpoint, .in = in, .out = out};
    bool stopped = false;
    while (!program->finished) {
        struct pollfd terminal = {.fd = program->questions ? STDIN_FILENO : -1, .events = POLLIN};
        enum poll_loop_result result = poll_loop_step(&loop, &terminal);
        if (result == POLL_LOOP_INPUT_ENDS) {
            (void) close(out);
            loop.out = -1;
            explain_end(program->client, stop_agent(pid));
            stopped = true;
            acp_endpoint_receive_end(endpoint, poll_loop_now());
        } else if (result == POLL_LOOP_FAILED) {
            fail(program, "poll", acp_str_from(strerror(errno)));
        } else if (result == POLL_LOOP_DONE && !program->finished) {
            fail(program, "the connection", acp_str_from("closed"));
        }
        if (terminal.revents && program->questions)
            on_terminal(program);
    }
    if (!stopped) {
        (void) close(out);
        (void) stop_agent(pid);
    }
    (void) close(in);
}

static bool parse_arguments(struct program *program, int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "ynm:")) != -1) {
        switch (option) {
        case 'y':
            program->answer = ANSWER_ALLOW;
            break;
        case 'n':
            program->answer = ANSWER_REJECT;
            break;
        case 'm':
            program->message = optarg;
            break;
        default:
            return false;
        }
    }
    return optind < argc;
}

int main(int argc, char **argv)
{
    static const struct acp_client_handler handler = {
        .event = on_event,
        .permission = on_permission,
        .permission_cancelled = on_permission_gone,
    };
    static const struct acp_client_options options = {
        .name = ACP_STR("poll-client"),
        .version = ACP_STR("1.0"),
        .versions = ACP_V1 | ACP_V2,
    };
    struct program program = {.message = "Hello, agent."};
    int in;
    int out;
    if (!parse_arguments(&program, argc, argv)) {
        (void) fputs("usage: poll-client [-y | -n] [-m MESSAGE] -- AGENT [ARGUMENT...]\n", stderr);
        return STATUS_USAGE;
    }
    (void) signal(SIGPIPE, SIG_IGN);
    (void) setvbuf(stdin, NULL, _IONBF, 0); /* so that poll() sees what getline() has not read */
    int err = acp_client_new(&options, &handler, &program, &program.client);
    if (!err)
        err = acp_client_initialize(program.client, on_ready, &program);
    if (err) {
        fail(&program, "cannot start", acp_str_from(acp_err_text(err)));
    } else {
        pid_t pid = start_agent(argv + optind, &in, &out);
        if (pid < 0)
            fail(&program, "cannot start the agent", acp_str_from(strerror(errno)));
        else
            run(&program, pid, in, out);
    }
    acp_client_free(program.client);
    while (program.questions) {
        struct question *next = program.questions->next;
        free_question(program.questions);
        program.questions = next;
    }
    return program.status;
}
