/* prompt_text.c - builds the prompt of a command line. */
#include "cmd/prompt_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acp/types.h"
#include "base/trim.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/conversation_setup.h"
#include "transcript/event.h"

/* The content blocks collected so far. */
struct parts {
    struct acp_arena arena;
    struct acp_content_block *blocks;
    size_t count;
};

static struct acp_content_block *add(struct parts *parts)
{
    size_t size = parts->count * sizeof(*parts->blocks);
    struct acp_content_block *blocks =
        acp_arena_grow(&parts->arena, parts->blocks, size, size + sizeof(*blocks));
    if (!blocks)
        return NULL;
    parts->blocks = blocks;
    return &blocks[parts->count++];
}

static int add_text(struct parts *parts, struct acp_str text)
{
    struct acp_content_block *block = text.len ? add(parts) : NULL;
    if (block)
        acp_content_block_init_text(block, text);
    return text.len && !block ? EXIT_FAILED : EXIT_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Reads to the end of input.  -errno; -EFBIG when there is more than `most`. */
static int read_all(int fd, size_t most, struct acp_buf *out)
{
    for (;;) {
        enum { CHUNK = 64 * 1024 };
        if (acp_buf_reserve(out, CHUNK))
            return -ENOMEM;
        ssize_t n = read(fd, out->data + out->start + out->len, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        out->len += (size_t) n;
        if (out->len > most)
            return -EFBIG;
    }
}

static int read_file(const char *name, size_t most, struct acp_buf *out)
{
    if (strcmp(name, "-") == 0)
        return read_all(STDIN_FILENO, most, out);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int err = read_all(fd, most, out);
    (void) close(fd);
    return err;
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

static int add_list(struct parts *parts, const char *name, struct acp_str text)
{
    struct acp_buf body;
    struct acp_failure failure = {0};
    struct acp_content_block_list blocks;
    acp_buf_init(&body, EVENT_MAX_BYTES);
    int err = acp_buf_printf(&body, "{\"prompt\":%.*s}", (int) text.len, text.ptr);
    struct acp_str copy =
        err ? acp_str_from(NULL) : acp_arena_copy(&parts->arena, acp_buf_view(&body));
    acp_buf_finish(&body);
    if (!copy.ptr)
        return EXIT_FAILED;
    if (event_read_prompt(acp_raw_n(copy.ptr, copy.len), &parts->arena, &blocks, &failure)) {
        err_message("%s is not a valid list of content blocks: %s%s%s", name, failure.path,
                    *failure.path ? ": " : "", failure.message);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < blocks.count; i++) {
        struct acp_content_block *block = add(parts);
        if (!block)
            return EXIT_FAILED;
        *block = blocks.items[i];
    }
    return EXIT_OK;
}

static int add_file(struct parts *parts, const char *name)
{
    struct acp_buf text;
    const char *shown = strcmp(name, "-") == 0 ? "standard input" : name;
    acp_buf_init(&text, EVENT_MAX_BYTES);
    int err = read_file(name, PROMPT_MAX_TEXT, &text);
    struct acp_str copy = {0};
    if (!err)
        copy = acp_arena_copy(&parts->arena, acp_str_trim(acp_buf_view(&text)));
    acp_buf_finish(&text);
    if (err) {
        err_message("%s: %s", shown, err == -EFBIG ? "larger than 16 MiB" : strerror(-err));
        return EXIT_USAGE;
    }
    if (!copy.len) {
        err_message("%s is empty", shown);
        return EXIT_USAGE;
    }
    return is_list(copy) ? add_list(parts, shown, copy) : add_text(parts, copy);
}

/* ---- Images ---------------------------------------------------------------------------------- */

static const struct {
    const char *type;
    const char *magic;
    size_t len;
    size_t at;
} image_types[] = {
    {"image/png", "\x89PNG\r\n\x1a\n", 8, 0},
    {"image/jpeg", "\xff\xd8\xff", 3, 0},
    {"image/gif", "GIF8", 4, 0},
    {"image/webp", "WEBP", 4, 8},
    {"image/bmp", "BM", 2, 0},
};

/* By content: the extension of a file name may be wrong. */
static const char *image_type(struct acp_str bytes)
{
    for (size_t i = 0; i < sizeof(image_types) / sizeof(image_types[0]); i++)
        if (bytes.len >= image_types[i].at + image_types[i].len &&
            memcmp(bytes.ptr + image_types[i].at, image_types[i].magic, image_types[i].len) == 0)
            return image_types[i].type;
    return NULL;
}

static int add_image(struct parts *parts, const char *name)
{
    struct acp_buf bytes;
    struct acp_buf text;
    acp_buf_init(&bytes, EVENT_MAX_BYTES);
    acp_buf_init(&text, EVENT_MAX_BYTES);
    int err = read_file(name, PROMPT_MAX_IMAGE, &bytes);
    const char *type = err ? NULL : image_type(acp_buf_view(&bytes));
    int status = EXIT_OK;
    if (err) {
        err_message("--image %s: %s", name, err == -EFBIG ? "larger than 20 MiB" : strerror(-err));
        status = EXIT_USAGE;
    } else if (!type) {
        err_message("--image %s: not a PNG, JPEG, GIF, WebP or BMP image", name);
        status = EXIT_USAGE;
    } else {
        struct acp_content_block *block = add(parts);
        err = acp_base64_encode(&text, bytes.data + bytes.start, bytes.len);
        struct acp_str data = acp_arena_copy(&parts->arena, acp_buf_view(&text));
        if (err || !block || !data.ptr)
            status = EXIT_FAILED;
        else
            acp_content_block_init_image(block, data, acp_str_from(type));
    }
    acp_buf_finish(&bytes);
    acp_buf_finish(&text);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int add_words(struct parts *parts, const struct invocation *invocation, const char *first)
{
    struct acp_buf words;
    int err = 0;
    acp_buf_init(&words, PROMPT_MAX_TEXT);
    if (first)
        err = acp_buf_append_str(&words, acp_str_from(first));
    for (size_t i = 0; i < invocation->argument_count && !err; i++)
        err = acp_buf_printf(&words, "%s%s", words.len ? " " : "", invocation->arguments[i]);
    struct acp_str copy = err ? (struct acp_str){0}
                              : acp_arena_copy(&parts->arena, acp_str_trim(acp_buf_view(&words)));
    acp_buf_finish(&words);
    return err || !copy.ptr ? EXIT_FAILED : add_text(parts, copy);
}

static int read_parts(struct parts *parts, const struct invocation *invocation,
                      const struct conversation_flags *options, struct acp_str extra)
{
    bool words = options->prompt || invocation->argument_count;
    const char *file = options->file;
    if (!file && !words && !isatty(STDIN_FILENO))
        file = "-";
    int status = file ? add_file(parts, file) : EXIT_OK;
    if (!status && words)
        status = add_words(parts, invocation, options->prompt);
    if (!status && !parts->count) {
        err_message("no prompt given; pass it as arguments, with --file, or on standard input");
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < options->images.count && !status; i++)
        status = add_image(parts, options->images.items[i]);
    return status ? status : add_text(parts, extra);
}

int prompt_text_read(const struct invocation *invocation, const struct conversation_flags *options,
                     struct acp_str extra, struct acp_buf *ret_body)
{
    struct parts parts = {0};
    struct acp_failure failure = {0};
    acp_arena_init(&parts.arena, 0);
    int status = read_parts(&parts, invocation, options, extra);
    if (!status && event_write_prompt(parts.blocks, parts.count, ret_body, &failure)) {
        err_message("cannot send the prompt: %s%s%s", failure.path, *failure.path ? ": " : "",
                    failure.message);
        status = EXIT_USAGE;
    }
    acp_arena_finish(&parts.arena);
    return status;
}
