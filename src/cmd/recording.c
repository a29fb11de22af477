/* recording.c - see recording.h. */
#include "cmd/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "acp/json.h"
#include "config/redact.h"
#include "workspace/beneath.h"

struct recording {
    int fd;
    int err;
    struct acp_buf lines[2]; /* what was received, and sent, of the current line */
    bool is_cut[2];          /* that line is too long */
};

int recording_open(const char *path, struct recording **ret)
{
    struct recording *recording = calloc(1, sizeof(*recording));
    if (!recording)
        return -ENOMEM;
    recording->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0600);
    if (recording->fd < 0) {
        int err = -errno;
        free(recording);
        return err;
    }
    for (int i = 0; i < 2; i++)
        acp_buf_init(&recording->lines[i], RECORDING_MAX_LINE);
    *ret = recording;
    return 0;
}

static void write_text(struct recording *recording, struct acp_str text)
{
    if (!recording->err)
        recording->err = acp_write_all(recording->fd, text);
}

/* What is not JSON cannot be searched for secrets, so that it was there is all that is recorded. */
static void write_line(struct recording *recording, struct acp_str line, bool is_cut)
{
    struct acp_arena arena;
    struct acp_buf out;
    acp_arena_init(&arena, 0);
    acp_buf_init(&out, (size_t) RECORDING_MAX_LINE * 2);
    struct acp_raw json = acp_raw_n(line.ptr, line.len);
    bool is_json = !is_cut && acp_json_validate(json, 0, NULL) == 0;
    int err = is_json
                  ? redact_json(json, &arena, &out)
                  : acp_buf_printf(&out, "(%s)",
                                   is_cut ? "a line that is too long" : "a line that is not JSON");
    if (!err)
        err = acp_buf_append(&out, "\n", 1);
    if (err && !recording->err)
        recording->err = -ENOMEM;
    write_text(recording, acp_buf_view(&out));
    acp_buf_finish(&out);
    acp_arena_finish(&arena);
}

static void end_line(struct recording *recording, bool is_sent)
{
    struct acp_buf *line = &recording->lines[is_sent];
    if (line->len)
        write_line(recording, acp_buf_view(line), recording->is_cut[is_sent]);
    acp_buf_clear(line);
    recording->is_cut[is_sent] = false;
}

void recording_add(bool is_sent, struct acp_str bytes, void *user)
{
    struct recording *recording = user;
    while (bytes.len) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t n = end ? (size_t) (end - bytes.ptr) : bytes.len;
        if (acp_buf_append(&recording->lines[is_sent], bytes.ptr, n))
            recording->is_cut[is_sent] = true;
        if (end)
            end_line(recording, is_sent);
        size_t taken = n + (end != NULL);
        bytes = acp_str_n(bytes.ptr + taken, bytes.len - taken);
    }
}

int recording_close(struct recording *recording)
{
    if (!recording)
        return 0;
    for (int i = 0; i < 2; i++) {
        end_line(recording, i);
        acp_buf_finish(&recording->lines[i]);
    }
    int err = recording->err;
    if (close(recording->fd) && !err)
        err = -errno;
    free(recording);
    return err;
}
