/*
 * What the client is shown of a command.
 *
 * Output that streams (version 2) is gathered for a moment, so that a program that prints byte by
 * byte does not make a message of each.  When the client does not keep up, the command is not read
 * until it has.  What there is too much of is shown by its end, now and then; so is, in version 1,
 * the output of a process of ours, since the content of a tool call can only be replaced.
 */
#include "workspace/job.h"

#include <stdio.h>

enum {
    CHUNK_BYTES = 32 * 1024,     /* enough to be sent at once */
    LIVE_TEXT_BYTES = 4 * 1024,  /* shown as text while it runs */
    LAST_TEXT_BYTES = 64 * 1024, /* and at the end */
    LIVE_TAIL_BYTES = 64 * 1024, /* the same for a stream that has become too long */
    LAST_TAIL_BYTES = 1024 * 1024,
    ID_SIZE = 64,
};

static bool is_pressed(const struct acp_job *job)
{
    return acp_agent_is_above_high_water(job->agent);
}

/* Shows the output again after so long, unless it is going to be sooner. */
static void refresh_in(struct acp_job *job, uint64_t ms)
{
    if (!uv_is_active((uv_handle_t *) &job->refresh))
        (void) uv_timer_start(&job->refresh, job_on_refresh, ms, 0);
}

static void set_content(struct acp_job *job, const struct acp_tool_call_content *content)
{
    struct acp_tool_call_update update;
    acp_tool_call_update_init(&update, job->tool_call);
    update.content.items = content;
    update.content.count = 1;
    (void) acp_session_send_tool_call(job->session, &update);
}

static void embed_terminal(struct acp_job *job)
{
    struct acp_tool_call_content content;
    acp_tool_call_content_init_terminal(&content, job->terminal_id);
    set_content(job, &content);
}

void job_show_embedded(struct acp_job *job)
{
    if (!job->tool_call.len)
        return;
    job->view = JOB_EMBEDDED;
    embed_terminal(job);
}

/* ---- Text of a tool call -------------------------------------------------------------------- */

/* The longest run of backquotes: what fences the text must be longer. */
static size_t longest_fence(struct acp_str text)
{
    size_t longest = 0;
    size_t run = 0;
    for (size_t i = 0; i < text.len; i++) {
        run = text.ptr[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static int write_fence(struct acp_buf *out, size_t length)
{
    int err = 0;
    for (size_t i = 0; i < length && !err; i++)
        err = acp_buf_append(out, "`", 1);
    return err;
}

static int write_fenced(struct acp_buf *out, struct acp_str text, bool truncated)
{
    size_t fence = longest_fence(text) + 1;
    fence = fence < 3 ? 3 : fence;
    bool ends = text.len && text.ptr[text.len - 1] == '\n';
    int err = write_fence(out, fence);
    if (!err)
        err = acp_buf_printf(out, "\n%s", truncated ? "[the beginning is left out]\n" : "");
    if (!err)
        err = acp_buf_append_str(out, text);
    if (!err && !ends)
        err = acp_buf_append(out, "\n", 1);
    return err ? err : write_fence(out, fence);
}

static void show_text(struct acp_job *job, struct acp_str output, bool truncated, size_t max)
{
    struct acp_str text = job_end_of(output, max);
    struct acp_tool_call_content content;
    struct acp_buf fenced;
    if (text.len == 0)
        return;
    acp_buf_init(&fenced, 4 * max);
    if (write_fenced(&fenced, text, truncated || text.len < output.len) == 0) {
        acp_tool_call_content_init_content(&content);
        acp_content_block_init_text(&content.content.content, acp_buf_view(&fenced));
        set_content(job, &content);
    }
    acp_buf_finish(&fenced);
}

/* ---- A terminal of version 2 ---------------------------------------------------------------- */

static bool is_plain(struct acp_str word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./:,@%";
    for (size_t i = 0; i < word.len; i++)
        if (!word.ptr[i] || !strchr(plain, word.ptr[i]))
            return false;
    return word.len > 0;
}

/* A word as one would type it in a shell. */
static int write_word(struct acp_buf *out, struct acp_str word)
{
    if (is_plain(word))
        return acp_buf_append_str(out, word);
    int err = acp_buf_append(out, "'", 1);
    for (size_t i = 0; i < word.len && !err; i++)
        err = word.ptr[i] == '\'' ? acp_buf_append(out, "'\\''", 4)
                                  : acp_buf_append(out, &word.ptr[i], 1);
    return err ? err : acp_buf_append(out, "'", 1);
}

static int write_line(struct acp_buf *out, const struct acp_job_options *options)
{
    if (options->args.count == 0)
        return acp_buf_append_str(out, options->command);
    int err = write_word(out, options->command);
    for (size_t i = 0; i < options->args.count && !err; i++) {
        err = acp_buf_append(out, " ", 1);
        if (!err)
            err = write_word(out, options->args.items[i]);
    }
    return err;
}

/* An id that no other run of this program gives either: a session may be opened again. */
static bool make_id(struct acp_job *job)
{
    char id[ID_SIZE];
    (void) snprintf(id, sizeof(id), "term_%016llx_%llu", (unsigned long long) job->set->seed,
                    (unsigned long long) job->set->next_number++);
    job->terminal_id = acp_arena_copy(&job->arena, acp_str_from(id));
    return job->terminal_id.ptr;
}

static void begin_stream(struct acp_job *job, const struct acp_job_options *options)
{
    const struct acp_terminals_options *terminals = &job->set->options.terminals;
    struct acp_session_update update;
    struct acp_terminal_size size;
    struct acp_terminal_cancel_capabilities cancel = {.meta = {NULL, 0}};
    struct acp_terminal_capabilities capabilities = {.cancel = &cancel};
    struct acp_buf line;
    acp_terminal_size_init(&size, terminals->columns, terminals->rows);
    acp_buf_init(&line, (size_t) ACP_WIRE_DEFAULT_MAX);
    if (make_id(job) && write_line(&line, options) == 0) {
        acp_session_update_init_terminal_update(&update, job->terminal_id);
        update.terminal_update.command = acp_buf_view(&line);
        update.terminal_update.cwd = options->cwd;
        if (!options->pipes && !terminals->pipes)
            update.terminal_update.size = &size;
        update.terminal_update.capabilities = &capabilities;
        if (acp_session_send_update(job->session, &update) == 0) {
            job->view = JOB_STREAM;
            embed_terminal(job);
        }
    }
    acp_buf_finish(&line);
}

/* Sends an end of the output in place of all that was shown; at the end with the exit status. */
static void send_tail(struct acp_job *job, struct acp_str output, size_t max,
                      const struct acp_terminal_exit_status *status)
{
    struct acp_str text = job_end_of(output, max);
    struct acp_session_update update;
    struct acp_terminal_output shown;
    struct acp_buf data;
    acp_buf_init(&data, 2 * max);
    if (acp_base64_encode(&data, text.ptr, text.len) == 0) {
        acp_terminal_output_init(&shown, acp_buf_view(&data));
        acp_session_update_init_terminal_update(&update, job->terminal_id);
        update.terminal_update.output = &shown;
        update.terminal_update.exit_status = status;
        (void) acp_session_send_update(job->session, &update);
    }
    acp_buf_finish(&data);
}

static void pause_reading(struct acp_job *job, bool pause)
{
    if (job->paused == pause)
        return;
    job->paused = pause;
    job_local_pause(job, pause);
}

/* From here on the command runs as fast as it likes, and its end is shown. */
static void give_up_stream(struct acp_job *job)
{
    job->view = JOB_TAIL;
    acp_buf_finish(&job->unsent);
    pause_reading(job, false);
    refresh_in(job, job->set->options.refresh_ms);
}

static void flush(struct acp_job *job)
{
    struct acp_session_update update;
    struct acp_buf data;
    if (job->unsent.len == 0)
        return;
    acp_buf_init(&data, 2 * job->unsent.max);
    int err = acp_base64_encode(&data, acp_buf_view(&job->unsent).ptr, job->unsent.len);
    if (!err) {
        acp_session_update_init_terminal_output_chunk(&update, job->terminal_id,
                                                      acp_buf_view(&data));
        err = acp_session_send_update(job->session, &update);
    }
    acp_buf_finish(&data);
    job->streamed += job->unsent.len;
    acp_buf_clear(&job->unsent);
    if (err)
        give_up_stream(job);
}

static void stream(struct acp_job *job, struct acp_str bytes)
{
    const struct acp_jobs_options *o = &job->set->options;
    if (job->streamed + job->unsent.len + bytes.len > o->stream_bytes ||
        acp_buf_append_str(&job->unsent, bytes)) {
        give_up_stream(job);
        return;
    }
    if (job->unsent.len >= CHUNK_BYTES && !is_pressed(job))
        flush(job);
    if (is_pressed(job))
        pause_reading(job, true);
    else if (job->unsent.len)
        refresh_in(job, o->merge_ms);
}

/* ---- The life of a view --------------------------------------------------------------------- */

void job_show_begin(struct acp_job *job, const struct acp_job_options *options)
{
    if (!job->tool_call.len)
        return;
    if (acp_agent_protocol(job->agent) & ACP_V2)
        begin_stream(job, options);
    else
        job->view = JOB_TEXT;
}

void job_show_bytes(struct acp_job *job, struct acp_str bytes)
{
    switch (job->view) {
    case JOB_STREAM:
        stream(job, bytes);
        break;
    case JOB_TEXT:
        /* A tool call that changes ends the message being said, which one beside it should not. */
        if (!job->background)
            refresh_in(job, job->set->options.refresh_ms);
        break;
    case JOB_TAIL:
        refresh_in(job, job->set->options.refresh_ms);
        break;
    case JOB_UNSEEN:
    case JOB_EMBEDDED:
        break;
    }
}

/* The end of the output as it is now. */
static void show_now(struct acp_job *job)
{
    struct acp_terminal_snapshot snapshot;
    struct acp_buf output;
    acp_buf_init(&output, job->limit);
    if (job_local_output(job, &output, &snapshot) == 0) {
        if (job->view == JOB_TEXT)
            show_text(job, acp_buf_view(&output), snapshot.truncated, LIVE_TEXT_BYTES);
        else
            send_tail(job, acp_buf_view(&output), LIVE_TAIL_BYTES, NULL);
    }
    acp_buf_finish(&output);
}

void job_on_refresh(uv_timer_t *timer)
{
    struct acp_job *job = timer->data;
    if (job_is_over(job))
        return;
    if (job->view == JOB_STREAM) {
        if (is_pressed(job))
            pause_reading(job, true); /* until it is relieved */
        else
            flush(job);
    } else if (is_pressed(job)) {
        refresh_in(job, job->set->options.refresh_ms);
    } else {
        show_now(job);
    }
}

void job_show_relieved(struct acp_job *job)
{
    if (job_is_over(job) || job->view != JOB_STREAM)
        return;
    flush(job);
    pause_reading(job, is_pressed(job));
}

static struct acp_terminal_exit_status exit_status(const struct acp_job *job)
{
    struct acp_terminal_exit_status status;
    acp_terminal_exit_status_init(&status);
    if (job->result.how.has_code)
        status.exit_code = acp_some_i64(job->result.how.code);
    if (job->result.how.signal)
        status.signal = acp_str_from(job->result.how.signal);
    return status;
}

void job_show_end(struct acp_job *job)
{
    struct acp_terminal_exit_status status = exit_status(job);
    struct acp_session_update update;
    if (job->view == JOB_STREAM)
        flush(job); /* which may give up the stream */
    if (job->view == JOB_STREAM) {
        acp_session_update_init_terminal_update(&update, job->terminal_id);
        update.terminal_update.exit_status = &status;
        (void) acp_session_send_update(job->session, &update);
    } else if (job->view == JOB_TAIL) {
        send_tail(job, job->result.output, LAST_TAIL_BYTES, &status);
    } else if (job->view == JOB_TEXT) {
        show_text(job, job->result.output, job->result.truncated, LAST_TEXT_BYTES);
    }
}
