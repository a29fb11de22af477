/* prompt_attach.c - see prompt_attach.h. */
#include "cmd/prompt_attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/output.h"
#include "cmd/cmd.h"
#include "transcript/event.h"
#include "workspace/beneath.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

struct acp_content_block *prompt_parts_add(struct prompt_parts *parts)
{
    size_t size = parts->count * sizeof(*parts->blocks);
    struct acp_content_block *blocks =
        acp_arena_grow(&parts->arena, parts->blocks, size, size + sizeof(*blocks));
    if (!blocks)
        return NULL;
    parts->blocks = blocks;
    return &blocks[parts->count++];
}

int prompt_parts_add_text(struct prompt_parts *parts, struct acp_str text)
{
    struct acp_content_block *block = text.len ? prompt_parts_add(parts) : NULL;
    if (block)
        acp_content_block_init_text(block, text);
    return text.len && !block ? ACP_ERR_NOMEM : 0;
}

/* ---- Files ----------------------------------------------------------------------------------- */

int prompt_read_all(int fd, size_t most, struct acp_buf *out)
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

const char *prompt_image_type(struct acp_str bytes)
{
    for (size_t i = 0; i < sizeof(image_types) / sizeof(image_types[0]); i++)
        if (bytes.len >= image_types[i].at + image_types[i].len &&
            memcmp(bytes.ptr + image_types[i].at, image_types[i].magic, image_types[i].len) == 0)
            return image_types[i].type;
    return NULL;
}

/* A file on its way into a block. */
struct attached {
    struct prompt_parts *parts;
    const char *shown; /* as the user wrote it */
    struct acp_str uri;
    int64_t size; /* -1: unknown */
    struct acp_str bytes;
    bool is_cut; /* there are more bytes than could be embedded */
};

static int add_image(const struct attached *file, const char *type)
{
    struct acp_buf text;
    struct acp_content_block *block = prompt_parts_add(file->parts);
    acp_buf_init(&text, EVENT_MAX_BYTES);
    int err = acp_base64_encode(&text, file->bytes.ptr, file->bytes.len);
    struct acp_str data = acp_arena_copy(&file->parts->arena, acp_buf_view(&text));
    acp_buf_finish(&text);
    if (err || !block || !data.ptr)
        return ACP_ERR_NOMEM;
    acp_content_block_init_image(block, data, acp_str_from(type));
    block->image.uri = file->uri;
    return 0;
}

static int add_resource(const struct attached *file)
{
    struct acp_content_block *block = prompt_parts_add(file->parts);
    struct acp_str text = acp_arena_copy(&file->parts->arena, file->bytes);
    if (!block || !text.ptr)
        return ACP_ERR_NOMEM;
    acp_content_block_init_resource(block);
    acp_embedded_resource_resource_init_text_resource_contents(&block->resource.resource, text,
                                                               file->uri);
    return 0;
}

static int add_link(const struct attached *file, const char *type)
{
    struct acp_content_block *block = prompt_parts_add(file->parts);
    struct acp_str name = acp_arena_copy(&file->parts->arena, acp_str_from(file->shown));
    if (!block || !name.ptr)
        return ACP_ERR_NOMEM;
    acp_content_block_init_resource_link(block, name, file->uri);
    if (type)
        block->resource_link.mime_type = acp_str_from(type);
    if (file->size >= 0)
        block->resource_link.size = acp_some_i64(file->size);
    return 0;
}

static bool is_text(struct acp_str bytes)
{
    return acp_text_check(bytes) == bytes.len && !memchr(bytes.ptr, '\0', bytes.len);
}

static int add_block(const struct attached *file)
{
    const char *image = prompt_image_type(file->bytes);
    if (image)
        return file->is_cut ? add_link(file, image) : add_image(file, image);
    bool is_embedded =
        !file->is_cut && file->bytes.len <= PROMPT_MAX_ATTACHED && is_text(file->bytes);
    return is_embedded ? add_resource(file) : add_link(file, NULL);
}

/* Reads the descriptor of a file with an absolute path and adds it.  0 or -errno. */
static int add_opened(struct prompt_parts *parts, const char *shown, const char *path, int fd)
{
    struct attached file = {.parts = parts, .shown = shown, .size = -1};
    struct stat st;
    struct acp_buf bytes;
    struct acp_buf uri;
    acp_buf_init(&bytes, EVENT_MAX_BYTES);
    acp_buf_init(&uri, (size_t) 64 * 1024);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        file.size = st.st_size;
    int err = prompt_read_all(fd, PROMPT_MAX_IMAGE, &bytes);
    file.is_cut = err == -EFBIG;
    file.bytes = acp_buf_view(&bytes);
    if (!err || file.is_cut)
        err = acp_file_uri(acp_str_from(path), &uri) ? -ENOMEM : 0;
    if (!err)
        file.uri = acp_arena_copy(&parts->arena, acp_buf_view(&uri));
    if (!err && (!file.uri.ptr || add_block(&file)))
        err = -ENOMEM;
    acp_buf_finish(&bytes);
    acp_buf_finish(&uri);
    return err;
}

/* ---- Named by an option ---------------------------------------------------------------------- */

int prompt_attach_file(struct prompt_parts *parts, const char *option, const char *name)
{
    char *path = realpath(name, NULL);
    struct stat st;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    int err = fd < 0 ? -errno : 0;
    if (!err && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        err = -EISDIR;
    if (!err)
        err = add_opened(parts, name, path, fd);
    if (fd >= 0)
        (void) close(fd);
    free(path);
    if (err)
        err_message("%s %s: %s", option, name, strerror(-err));
    return err == -ENOMEM ? EXIT_FAILED : err ? EXIT_USAGE : EXIT_OK;
}

int prompt_attach_image(struct prompt_parts *parts, const char *name)
{
    size_t before = parts->count;
    int status = prompt_attach_file(parts, "--image", name);
    if (status)
        return status;
    const struct acp_content_block *block = &parts->blocks[before];
    if (block->is == ACP_CONTENT_BLOCK_IMAGE)
        return EXIT_OK;
    bool is_large =
        block->is == ACP_CONTENT_BLOCK_RESOURCE_LINK && block->resource_link.mime_type.len;
    err_message(is_large ? "--image %s: larger than 20 MiB"
                         : "--image %s: not a PNG, JPEG, GIF, WebP or BMP image",
                name);
    return EXIT_USAGE;
}

/* ---- Named in the text ----------------------------------------------------------------------- */

struct mentions {
    struct prompt_parts *parts;
    const struct prompt_roots *about;
    struct acp_roots *roots;
    size_t count;
};

static int check_opened(struct acp_str path, bool writes, struct acp_files_error *error, void *user)
{
    const struct mentions *mentions = user;
    const struct acp_action action = {
        .kind = ACP_TOOL_KIND_READ,
        .paths = {&path, 1},
        .cwd = mentions->about->cwd,
        .additional = mentions->about->directories,
        .is_real = true,
    };
    (void) writes;
    if (!mentions->about->policy)
        return 0;
    struct acp_decision decision =
        acp_policy_decide(mentions->about->policy, NULL, &action, (int64_t) time(NULL), true);
    if (decision.verdict != ACP_VERDICT_DENY)
        return 0;
    return acp_files_fail(error, ACP_ERR_STATE, ACP_FILES_FAILED, "the rules deny reading it");
}

/* False if the word is no file that is attached. */
static bool attach_mention(struct mentions *mentions, struct acp_str word, int *ret_err)
{
    const struct acp_files_guard guard = {.check = check_opened, .user = mentions};
    const struct acp_files_options options = {.guard = &guard};
    struct acp_files_error error;
    struct prompt_parts *parts = mentions->parts;
    char path[ACP_PATH_SIZE];
    struct stat st;
    int fd = -1;
    bool is_absolute = word.ptr[0] == '/';
    int n =
        snprintf(path, sizeof(path), "%.*s%s%.*s", is_absolute ? 0 : (int) mentions->about->cwd.len,
                 mentions->about->cwd.ptr, is_absolute ? "" : "/", (int) word.len, word.ptr);
    if (n < 0 || (size_t) n >= sizeof(path) || memchr(word.ptr, '\0', word.len) ||
        lstat(path, &st) != 0)
        return false;
    int err = acp_files_open(mentions->roots, acp_str_from(path), &options, &fd, &error);
    if (err) {
        /* A directory stays a word for the agent. */
        if (!S_ISDIR(st.st_mode))
            err_message("@%.*s is not attached: %s", (int) word.len, word.ptr, error.message);
        return true;
    }
    struct acp_str shown = acp_arena_copy(&parts->arena, word);
    *ret_err = shown.ptr ? add_opened(parts, shown.ptr, path, fd) : -ENOMEM;
    (void) close(fd);
    mentions->count++;
    return true;
}

/* The path behind an "@"; *ret_len is how much of the text it takes. */
static struct acp_str mention_at(struct acp_str text, size_t *ret_len)
{
    const char *end =
        text.len && text.ptr[0] == '"' ? memchr(text.ptr + 1, '"', text.len - 1) : NULL;
    if (end) {
        *ret_len = (size_t) (end - text.ptr) + 1;
        return acp_str_n(text.ptr + 1, *ret_len - 2);
    }
    size_t n = 0;
    while (n < text.len && !strchr(" \t\r\n\"'`<>()[]{}", text.ptr[n]))
        n++;
    *ret_len = n;
    return acp_str_n(text.ptr, n);
}

/* "see @main.c." means main.c: what ends a sentence belongs to the path only if there is such a
 * file. */
static int attach_word(struct mentions *mentions, struct acp_str word)
{
    int err = 0;
    while (word.len && !attach_mention(mentions, word, &err)) {
        if (!strchr(".,;:!?", word.ptr[word.len - 1]))
            break;
        word.len--;
    }
    return err;
}

int prompt_attach_mentions(struct prompt_parts *parts, struct acp_str text,
                           const struct prompt_roots *about)
{
    struct mentions mentions = {.parts = parts, .about = about};
    struct acp_failure failure = {0};
    int err = 0;
    if (!text.len || !memchr(text.ptr, '@', text.len))
        return 0;
    if (acp_roots_new(about->cwd, about->directories, &mentions.roots, &failure))
        return 0; /* the conversation reports that */
    for (size_t i = 0; i < text.len && !err && mentions.count < PROMPT_MAX_ATTACHMENTS; i++) {
        size_t taken;
        if (text.ptr[i] != '@' || (i > 0 && !strchr(" \t\r\n\"'`(<[{", text.ptr[i - 1])))
            continue;
        struct acp_str word = mention_at(acp_str_n(text.ptr + i + 1, text.len - i - 1), &taken);
        err = attach_word(&mentions, word);
        i += taken;
    }
    acp_roots_free(mentions.roots);
    return err == -ENOMEM ? ACP_ERR_NOMEM : 0;
}
