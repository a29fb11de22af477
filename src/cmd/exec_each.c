/*
 * exec_each.c - acp exec --each FILE: one run for each line or JSON object of a file.
 *
 * With --results the results are appended to a file, and a later command skips the inputs that have
 * a good result there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/map.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/exec.h"
#include "cmd/many_runs.h"
#include "cmd/prompt_attach.h"
#include "json/members.h"
#include "render/render.h"
#include "workspace/beneath.h"

/* The largest file of inputs or results, and the longest prompt that is made. */
enum { EACH_MAX_FILE = 256 * 1024 * 1024, EACH_MAX_PROMPT = 16 * 1024 * 1024 };

struct input {
    struct acp_str text; /* the line, without blanks around it */
    struct acp_str key;  /* its id, or the line */
    uint64_t line;       /* its number in the file */
    bool is_object;
};

struct each {
    const struct invocation *invocation;
    const struct exec_options *options;
    struct acp_arena arena;
    struct acp_buf file;
    struct acp_map done; /* the keys of inputs with a good result */
    struct input *inputs;
    size_t count;
    size_t skipped;
    size_t ended;
    size_t failed;
    int results; /* the descriptor of --results, or -1 */
    char name[32];
};

/* ---- Reading --------------------------------------------------------------------------------- */

static int read_file(const char *option, const char *name, bool may_be_missing, struct acp_buf *out)
{
    int fd = strcmp(name, "-") == 0 ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && may_be_missing)
        return EXIT_OK;
    int err = fd < 0 ? -errno : prompt_read_all(fd, EACH_MAX_FILE, out);
    if (fd >= 0)
        (void) close(fd);
    if (err)
        err_message("%s %s: %s", option, name,
                    err == -EFBIG ? "larger than 256 MiB" : strerror(-err));
    return err ? EXIT_USAGE : EXIT_OK;
}

/* The next line; false at the end. */
static bool next_line(struct acp_str *rest, struct acp_str *ret)
{
    if (!rest->len)
        return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t n = end ? (size_t) (end - rest->ptr) : rest->len;
    *ret = acp_str_n(rest->ptr, n);
    *rest = acp_str_n(rest->ptr + n + (end != NULL), rest->len - n - (end != NULL));
    return true;
}

static struct acp_str trim(struct acp_str line)
{
    while (line.len && strchr(" \t\r", line.ptr[0]))
        line = acp_str_n(line.ptr + 1, line.len - 1);
    while (line.len && strchr(" \t\r", line.ptr[line.len - 1]))
        line.len--;
    return line;
}

static int add_input(struct each *each, struct acp_str text, uint64_t line)
{
    struct input input = {.text = text, .key = text, .line = line};
    struct acp_raw json = acp_raw_n(text.ptr, text.len);
    input.is_object = text.ptr[0] == '{';
    if (input.is_object && acp_json_validate(json, 0, NULL)) {
        err_message("--each %s:%llu: not a JSON object", each->options->each,
                    (unsigned long long) line);
        return EXIT_USAGE;
    }
    if (input.is_object)
        (void) acp_json_member_str(json, "id", &each->arena, &input.key);
    size_t size = each->count * sizeof(input);
    struct input *inputs = each->inputs;
    /* The capacity is the next power of two. */
    if ((each->count & (each->count - 1)) == 0)
        inputs =
            acp_arena_grow(&each->arena, inputs, size, (each->count ? size * 2 : sizeof(input)));
    if (!inputs)
        return EXIT_FAILED;
    each->inputs = inputs;
    inputs[each->count++] = input;
    return EXIT_OK;
}

/* Each input once: one that is done, or occurs again, is passed over. */
static int read_inputs(struct each *each)
{
    static char seen;
    struct acp_map keys;
    struct acp_str line;
    uint64_t number = 0;
    int status = read_file("--each", each->options->each, false, &each->file);
    struct acp_str rest = acp_buf_view(&each->file);
    acp_map_init(&keys, 0);
    while (!status && next_line(&rest, &line)) {
        line = trim(line);
        number++;
        if (!line.len)
            continue;
        status = add_input(each, line, number);
        struct acp_str key = status ? (struct acp_str){0} : each->inputs[each->count - 1].key;
        if (status)
            break;
        if (acp_map_get(&keys, key) || acp_map_get(&each->done, key)) {
            each->count--;
            each->skipped++;
        } else if (acp_map_set(&keys, key, &seen)) {
            status = EXIT_FAILED;
        }
    }
    acp_map_finish(&keys);
    return status;
}

/* What a line of the results says; a torn last line says nothing. */
static int note_result(struct each *each, struct acp_str line)
{
    static char is_done;
    struct acp_raw json = acp_raw_n(line.ptr, line.len);
    struct acp_raw result = {0};
    struct acp_str key = {0};
    uint64_t status = EXIT_FAILED;
    if (acp_json_validate(json, 0, NULL) || acp_json_member_str(json, "id", &each->arena, &key) ||
        acp_json_member_raw(json, "result", &result) || !result.len ||
        acp_json_member_u64(result, "exitStatus", &status) || status != EXIT_OK || !key.len)
        return 0;
    return acp_map_set(&each->done, key, &is_done);
}

static int open_results(struct each *each)
{
    const char *name = each->options->results;
    struct acp_buf old;
    struct acp_str line;
    if (!name)
        return EXIT_OK;
    acp_buf_init(&old, (size_t) EACH_MAX_FILE * 2);
    int status = read_file("--results", name, true, &old);
    struct acp_str rest = acp_buf_view(&old);
    bool is_torn = rest.len && rest.ptr[rest.len - 1] != '\n';
    while (!status && next_line(&rest, &line))
        if (line.len && note_result(each, line))
            status = EXIT_FAILED;
    acp_buf_finish(&old);
    if (status)
        return status;
    each->results = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    int err = each->results < 0 ? -errno
              : is_torn         ? acp_write_all(each->results, acp_str_from("\n"))
                                : 0;
    if (err)
        err_message("--results %s: %s", name, strerror(-err));
    return err ? EXIT_USAGE : EXIT_OK;
}

/* ---- Prompts --------------------------------------------------------------------------------- */

/* The value of a member as text: a text itself, anything else as JSON. */
static int append_member(struct each *each, const struct input *input, struct acp_str name,
                         struct acp_buf *out, bool *ret_found)
{
    struct acp_raw json = acp_raw_n(input->text.ptr, input->text.len);
    struct acp_raw value = {0};
    struct acp_str text = {0};
    const char *key = acp_arena_copy(&each->arena, name).ptr;
    int err = key ? acp_json_member_raw(json, key, &value) : ACP_ERR_NOMEM;
    if (err || !value.len)
        return err;
    *ret_found = true;
    if (value.ptr[0] == '"')
        err = acp_json_member_str(json, key, &each->arena, &text);
    else
        text = acp_str_n(value.ptr, value.len);
    return err ? err : acp_buf_append_str(out, text);
}

/* {} is the line, {name} a member of the object; other braces are text. */
static int expand(struct each *each, const struct input *input, struct acp_str template,
                  struct acp_buf *out, bool *ret_used)
{
    int err = 0;
    for (size_t i = 0; i < template.len && !err; i++) {
        const char *end =
            template.ptr[i] == '{' ? memchr(template.ptr + i, '}', template.len - i) : NULL;
        struct acp_str name =
            end ? acp_str_n(template.ptr + i + 1, (size_t) (end - template.ptr) - i - 1)
                : (struct acp_str){0};
        bool found = false;
        if (end && !name.len) {
            found = true;
            err = acp_buf_append_str(out, input->text);
        } else if (end && input->is_object) {
            err = append_member(each, input, name, out, &found);
        }
        *ret_used |= found;
        if (found)
            i = (size_t) (end - template.ptr);
        else if (!err)
            err = acp_buf_append(out, template.ptr + i, 1);
    }
    return err;
}

/* The prompt on the command line with the input in it or behind it; or the input. */
static const char *make_prompt(struct each *each, const struct input *input)
{
    struct acp_buf words;
    struct acp_buf prompt;
    bool used = false;
    bool found = false;
    acp_buf_init(&words, EACH_MAX_PROMPT);
    acp_buf_init(&prompt, EACH_MAX_PROMPT);
    const char *first = each->options->conversation.prompt;
    int err = first ? acp_buf_append_str(&words, acp_str_from(first)) : 0;
    for (size_t i = 0; i < each->invocation->argument_count && !err; i++)
        err = acp_buf_printf(&words, "%s%s", words.len ? " " : "", each->invocation->arguments[i]);
    if (!err)
        err = expand(each, input, acp_buf_view(&words), &prompt, &used);
    if (!err && !used && prompt.len)
        err = acp_buf_append_str(&prompt, acp_str_from("\n\n"));
    if (!err && !used && input->is_object)
        err = append_member(each, input, acp_str_from("prompt"), &prompt, &found);
    if (!err && !used && !found)
        err = acp_buf_append_str(&prompt, input->text);
    const char *text = err ? NULL : acp_arena_copy(&each->arena, acp_buf_view(&prompt)).ptr;
    acp_buf_finish(&words);
    acp_buf_finish(&prompt);
    return text;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* In the process of the run. */
static int run_one(size_t index, void *user)
{
    struct each *each = user;
    struct exec_options options = *each->options;
    struct invocation invocation = *each->invocation;
    static const char *const no_words[] = {NULL};
    options.each = NULL;
    options.agent.format = RENDER_JSON;
    options.conversation.prompt = make_prompt(each, &each->inputs[index]);
    invocation.options = &options;
    invocation.arguments = no_words;
    invocation.argument_count = 0;
    return options.conversation.prompt ? exec_run(&invocation) : EXIT_FAILED;
}

static const char *name_run(size_t index, void *user)
{
    struct each *each = user;
    (void) snprintf(each->name, sizeof(each->name), "%llu",
                    (unsigned long long) each->inputs[index].line);
    return each->name;
}

/* {"id":KEY,"line":N,"input":TEXT|OBJECT,"session":ID,"result":{...}} */
static int write_result(struct each *each, const struct finished_run *run, struct acp_buf *out)
{
    const struct input *input = &each->inputs[run->index];
    struct acp_json_writer w;
    struct acp_str session = {0};
    struct acp_raw body = {0};
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    acp_json_put_str(&w, "id", input->key);
    acp_json_put_u64(&w, "line", input->line);
    acp_json_write_key(&w, acp_str_from("input"));
    if (input->is_object)
        acp_json_write_raw(&w, acp_raw_n(input->text.ptr, input->text.len));
    else
        acp_json_write_str(&w, input->text);
    if (run->result.len) {
        (void) acp_json_member_str(run->result, "session", &each->arena, &session);
        (void) acp_json_member_raw(run->result, "body", &body);
        acp_json_put_str(&w, "session", session);
    }
    acp_json_write_key(&w, acp_str_from("result"));
    if (body.len) {
        acp_json_write_raw(&w, body);
    } else {
        acp_json_begin_object(&w);
        if (run->message.len)
            acp_json_put_str(&w, "error", run->message);
        acp_json_put_i64(&w, "exitStatus", run->status);
        acp_json_end_object(&w);
    }
    acp_json_end_object(&w);
    return w.err;
}

/* In one piece, so that an interruption tears at most the last line. */
static int store_result(const struct each *each, struct acp_str line)
{
    int err = acp_write_all(each->results, line);
    if (err)
        err_message("--results %s: %s", each->options->results, strerror(-err));
    return err;
}

static int note_done(const struct finished_run *run, void *user)
{
    struct each *each = user;
    struct acp_buf line;
    acp_buf_init(&line, (size_t) EACH_MAX_FILE * 2);
    int err = write_result(each, run, &line);
    if (!err)
        err = acp_buf_append(&line, "\n", 1);
    each->ended++;
    each->failed += run->status != EXIT_OK;
    if (err)
        err_message("cannot write the result: %s", acp_err_text(err));
    else if (each->results < 0)
        out_json(acp_buf_view(&line));
    else
        err = store_result(each, acp_buf_view(&line));
    acp_buf_finish(&line);
    err_row("[%llu/%llu] %s %.1f s  %.*s", (unsigned long long) each->ended,
            (unsigned long long) each->count, run->status == EXIT_OK ? "ok    " : "failed",
            (double) run->duration_ms / 1000,
            each->inputs[run->index].text.len < 60 ? (int) each->inputs[run->index].text.len : 60,
            each->inputs[run->index].text.ptr);
    return err;
}

static int run_all(struct each *each)
{
    const struct many_runs runs = {
        .count = each->count,
        .jobs = each->options->jobs.given ? each->options->jobs.value : 1,
        .run = run_one,
        .name = name_run,
        .done = note_done,
        .user = each,
    };
    int status = many_runs(&runs);
    err_printf("%llu run%s, %llu failed", (unsigned long long) each->ended,
               each->ended == 1 ? "" : "s", (unsigned long long) each->failed);
    if (each->skipped)
        err_printf(", %llu skipped", (unsigned long long) each->skipped);
    err_printf("\n");
    return status == EXIT_OK && each->failed ? EXIT_FAILED : status;
}

static int check_options(const struct exec_options *options)
{
    const struct conversation_flags *conversation = &options->conversation;
    if ((conversation->resume || conversation->continue_last) && !conversation->fork) {
        err_message("--each begins a session for each input; add --fork, or leave --continue and "
                    "--resume out");
        return EXIT_USAGE;
    }
    if (conversation->output || options->record) {
        err_message("%s is for a single run; use --results with --each",
                    conversation->output ? "--output" : "--record");
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

int exec_run_each(const struct invocation *invocation)
{
    struct each each = {.invocation = invocation, .options = invocation->options, .results = -1};
    acp_arena_init(&each.arena, 0);
    acp_buf_init(&each.file, (size_t) EACH_MAX_FILE * 2);
    acp_map_init(&each.done, 0);
    int status = check_options(each.options);
    if (!status)
        status = open_results(&each);
    if (!status)
        status = read_inputs(&each);
    if (!status)
        status = run_all(&each);
    if (each.results >= 0)
        (void) close(each.results);
    acp_map_finish(&each.done);
    acp_buf_finish(&each.file);
    acp_arena_finish(&each.arena);
    return status;
}
