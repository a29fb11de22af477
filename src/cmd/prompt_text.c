/* prompt_text.c - builds the prompt of a command line. */
#include "cmd/prompt_text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "acp/types.h"
#include "base/trim.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/conversation_setup.h"
#include "cmd/prompt_stdin.h"
#include "transcript/event.h"

/* ---- Files ----------------------------------------------------------------------------------- */

static int read_file(const char *name, size_t most, struct acp_buf *out)
{
    if (strcmp(name, "-") == 0)
        return prompt_read_all(STDIN_FILENO, most, out);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int err = prompt_read_all(fd, most, out);
    (void) close(fd);
    return err;
}

static bool is_standard_input(const char *name)
{
    return strcmp(name, "-") == 0;
}

/* The text of a file, trimmed; prints errors and returns the exit status. */
static int read_text(struct prompt_parts *parts, const char *name, struct acp_str *ret)
{
    struct acp_buf text;
    const char *shown = is_standard_input(name) ? "standard input" : name;
    acp_buf_init(&text, EVENT_MAX_BYTES);
    int err = read_file(name, PROMPT_MAX_TEXT, &text);
    struct acp_str copy = err ? (struct acp_str){0}
                              : acp_arena_copy(&parts->arena, acp_str_trim(acp_buf_view(&text)));
    acp_buf_finish(&text);
    if (err)
        err_message("%s: %s", shown, err == -EFBIG ? "larger than 16 MiB" : strerror(-err));
    else
        *ret = copy;
    return err ? EXIT_USAGE : copy.ptr ? EXIT_OK : EXIT_FAILED;
}

/* Whether the text is a JSON array. */
static bool is_list(struct acp_str text)
{
    size_t i = 0;
    while (i < text.len && strchr(" \t\r\n", text.ptr[i]))
        i++;
    return i < text.len && text.ptr[i] == '[' &&
           acp_json_validate(acp_raw_n(text.ptr, text.len), 0, NULL) == 0;
}

/* EXIT_USAGE, without a message, if it is not a list of content blocks; *failure then says why. */
static int add_list(struct prompt_parts *parts, struct acp_str text, struct acp_failure *failure)
{
    struct acp_buf body;
    struct acp_content_block_list blocks;
    acp_buf_init(&body, EVENT_MAX_BYTES);
    int err = acp_buf_printf(&body, "{\"prompt\":%.*s}", (int) text.len, text.ptr);
    struct acp_str copy =
        err ? acp_str_from(NULL) : acp_arena_copy(&parts->arena, acp_buf_view(&body));
    acp_buf_finish(&body);
    if (!copy.ptr)
        return EXIT_FAILED;
    if (event_read_prompt(acp_raw_n(copy.ptr, copy.len), &parts->arena, &blocks, failure))
        return EXIT_USAGE;
    for (size_t i = 0; i < blocks.count; i++) {
        struct acp_content_block *block = prompt_parts_add(parts);
        if (!block)
            return EXIT_FAILED;
        *block = blocks.items[i];
    }
    return EXIT_OK;
}

static int exit_status(int err)
{
    return err ? EXIT_FAILED : EXIT_OK;
}

/* A file whose text is the prompt, or a list of content blocks. */
static int add_prompt_file(struct prompt_parts *parts, const char *name)
{
    struct acp_failure failure = {0};
    struct acp_str text;
    const char *shown = is_standard_input(name) ? "standard input" : name;
    int status = read_text(parts, name, &text);
    if (status)
        return status;
    if (!text.len) {
        err_message("%s is empty%s", shown,
                    is_standard_input(name) ? "; give the prompt as an argument or with --file"
                                            : "");
        return EXIT_USAGE;
    }
    if (!is_list(text))
        return exit_status(prompt_parts_add_text(parts, text));
    status = add_list(parts, text, &failure);
    if (status == EXIT_USAGE)
        err_message("%s is not a valid list of content blocks: %s%s%s", shown, failure.path,
                    *failure.path ? ": " : "", failure.message);
    return status;
}

/* ---- Standard input beside a prompt ---------------------------------------------------------- */

static int add_input(struct prompt_parts *parts)
{
    struct acp_buf labelled;
    struct acp_str text;
    int status = read_text(parts, "-", &text);
    if (status || !text.len)
        return status;
    acp_buf_init(&labelled, EVENT_MAX_BYTES);
    int err = acp_buf_printf(&labelled, "<stdin>\n%.*s\n</stdin>", (int) text.len, text.ptr);
    struct acp_str copy =
        err ? acp_str_from(NULL) : acp_arena_copy(&parts->arena, acp_buf_view(&labelled));
    acp_buf_finish(&labelled);
    if (!copy.ptr)
        return EXIT_FAILED;
    return exit_status(prompt_parts_add_text(parts, copy));
}

/* What was piped to a command whose prompt is on the command line. */
static int add_piped(struct prompt_parts *parts)
{
    bool is_ours;
    int err = prompt_stdin_wait(&is_ours);
    if (err) {
        err_message("standard input: %s", strerror(-err));
        return EXIT_FAILED;
    }
    return is_ours ? add_input(parts) : EXIT_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int join_words(struct prompt_parts *parts, const struct invocation *invocation,
                      const char *first, struct acp_str *ret)
{
    struct acp_buf words;
    int err = 0;
    acp_buf_init(&words, PROMPT_MAX_TEXT);
    if (first)
        err = acp_buf_append_str(&words, acp_str_from(first));
    for (size_t i = 0; i < invocation->argument_count && !err; i++)
        err = acp_buf_printf(&words, "%s%s", words.len ? " " : "", invocation->arguments[i]);
    *ret = err ? (struct acp_str){0}
               : acp_arena_copy(&parts->arena, acp_str_trim(acp_buf_view(&words)));
    acp_buf_finish(&words);
    return exit_status(err || !ret->ptr);
}

/* The prompt on the command line, with what belongs to it. */
static int add_words(struct prompt_parts *parts, const struct invocation *invocation,
                     const struct conversation_flags *options, const struct prompt_roots *roots)
{
    struct acp_str words;
    int status = join_words(parts, invocation, options->prompt, &words);
    if (!status)
        status = exit_status(prompt_parts_add_text(parts, words));
    return status ? status : exit_status(prompt_attach_mentions(parts, words, roots));
}

/* A file beside a prompt: attached, unless it is a list of content blocks. */
static int add_file(struct prompt_parts *parts, const char *name)
{
    struct acp_failure failure = {0};
    size_t before = parts->count;
    if (is_standard_input(name))
        return add_input(parts);
    int status = prompt_attach_file(parts, "--file", name);
    if (status || parts->count == before || parts->blocks[before].is != ACP_CONTENT_BLOCK_RESOURCE)
        return status;
    struct acp_str text = parts->blocks[before].resource.resource.text_resource_contents.text;
    if (!is_list(text))
        return EXIT_OK;
    status = add_list(parts, text, &failure);
    if (status)
        return status == EXIT_USAGE ? EXIT_OK : status;
    /* The blocks of the list replace the file. */
    parts->count--;
    memmove(&parts->blocks[before], &parts->blocks[before + 1],
            (parts->count - before) * sizeof(*parts->blocks));
    return EXIT_OK;
}

/* Whether one of the files is standard input, which can be read only once. */
static bool takes_input(const struct conversation_flags *options)
{
    if (options->prompt_file && is_standard_input(options->prompt_file))
        return true;
    for (size_t i = 0; i < options->files.count; i++)
        if (is_standard_input(options->files.items[i]))
            return true;
    return false;
}

static int read_parts(struct prompt_parts *parts, const struct invocation *invocation,
                      const struct conversation_flags *options, const struct prompt_roots *roots,
                      struct acp_str extra)
{
    bool words = options->prompt || invocation->argument_count;
    const char *prompt_file = options->prompt_file;
    size_t first = 0;
    /* Without any other prompt, the first file is the prompt; without a file, standard input. */
    if (!words && !prompt_file && options->files.count)
        prompt_file = options->files.items[first++];
    if (!words && !prompt_file && !isatty(STDIN_FILENO))
        prompt_file = "-";
    int status = prompt_file ? add_prompt_file(parts, prompt_file) : EXIT_OK;
    if (!status && words)
        status = add_words(parts, invocation, options, roots);
    if (!status && !parts->count) {
        err_message("no prompt given; pass it as arguments, with --file, or on standard input");
        return EXIT_USAGE;
    }
    for (; first < options->files.count && !status; first++)
        status = add_file(parts, options->files.items[first]);
    for (size_t i = 0; i < options->images.count && !status; i++)
        status = prompt_attach_image(parts, options->images.items[i]);
    bool is_read = takes_input(options) || (prompt_file && is_standard_input(prompt_file));
    if (!status && !is_read)
        status = add_piped(parts);
    return status ? status : exit_status(prompt_parts_add_text(parts, extra));
}

int prompt_text_read(const struct invocation *invocation, const struct conversation_flags *options,
                     const struct prompt_roots *roots, struct acp_str extra,
                     struct acp_buf *ret_body)
{
    struct prompt_parts parts = {0};
    struct acp_failure failure = {0};
    acp_arena_init(&parts.arena, 0);
    int status = read_parts(&parts, invocation, options, roots, extra);
    if (!status && event_write_prompt(parts.blocks, parts.count, ret_body, &failure)) {
        err_message("cannot send the prompt: %s%s%s", failure.path, *failure.path ? ": " : "",
                    failure.message);
        status = EXIT_USAGE;
    }
    acp_arena_finish(&parts.arena);
    return status;
}
