/*
 * edit-agent - an agent that replaces text in a file.  The prompt has three lines: an absolute path
 * in the session's folder, the text to find, and the text to put in its place.
 *
 * It shows the change as a diff and asks for permission before it writes.  The session has three
 * modes: "ask", "auto" (writes without asking) and "read-only" (shows the diff and writes nothing).
 *
 * Files are read and written through a version 1 client that offers that, which is how an editor
 * sees changes to files that it has open; otherwise on the disk.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/run.h"

enum { MAX_FILE = 16 * 1024 * 1024 };
enum mode { MODE_ASK, MODE_AUTO, MODE_READ_ONLY, MODE_COUNT };

static const struct acp_session_mode modes[MODE_COUNT] = {
    {.id = ACP_STR("ask"), .name = ACP_STR("Ask before writing")},
    {.id = ACP_STR("auto"), .name = ACP_STR("Write without asking")},
    {.id = ACP_STR("read-only"), .name = ACP_STR("Write nothing")},
};

/* What one turn does.  Belongs to the turn and is freed where that ends. */
struct edit {
    char *path;
    char *find;
    char *replace;
    char *old_text;
    struct acp_buf new_text;
    bool by_client; /* the file is the client's to read and write */
};

/* ---- The end of a turn ----------------------------------------------------------------------- */

static void free_edit(struct edit *edit)
{
    free(edit->path);
    free(edit->find);
    free(edit->replace);
    free(edit->old_text);
    acp_buf_finish(&edit->new_text);
    free(edit);
}

static void end_turn(struct acp_turn *turn, struct edit *edit, struct acp_str words)
{
    free_edit(edit);
    (void) acp_turn_send_text(turn, words);
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void fail_turn(struct acp_turn *turn, struct edit *edit, const char *what,
                      struct acp_str why)
{
    char message[600];
    (void) snprintf(message, sizeof(message), "%s: %.*s", what, ACP_ARG(why));
    free_edit(edit);
    (void) acp_turn_fail(turn, ACP_ERROR_CODE_INTERNAL_ERROR, acp_str_from(message));
}

static void set_status(struct acp_turn *turn, enum acp_tool_call_status_is status)
{
    struct acp_tool_call_update update;
    acp_tool_call_update_init(&update, acp_str_from("edit"));
    update.status.is = status;
    (void) acp_turn_send_tool_call(turn, &update);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void after_write(struct acp_turn *turn, const struct acp_outcome *outcome,
                        struct acp_str text, void *user)
{
    (void) text;
    set_status(turn, outcome->err ? ACP_TOOL_CALL_STATUS_FAILED : ACP_TOOL_CALL_STATUS_COMPLETED);
    if (outcome->err)
        fail_turn(turn, user, "cannot write the file", outcome->why);
    else
        end_turn(turn, user, acp_str_from("Done."));
}

static int write_disk(const char *path, struct acp_str text)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return -1;
    size_t n = fwrite(text.ptr, 1, text.len, file);
    return fclose(file) || n != text.len ? -1 : 0;
}

static void write_file(struct acp_turn *turn, struct edit *edit)
{
    struct acp_str text = acp_buf_view(&edit->new_text);
    struct acp_outcome outcome = {0};
    set_status(turn, ACP_TOOL_CALL_STATUS_IN_PROGRESS);
    if (edit->by_client) {
        outcome.err = acp_turn_write_file(turn, acp_str_from(edit->path), text, after_write, edit);
        if (!outcome.err)
            return;
        outcome.why = acp_str_from(acp_err_text(outcome.err));
    } else if (write_disk(edit->path, text)) {
        outcome.err = ACP_ERR_REMOTE;
        outcome.why = acp_str_from(strerror(errno));
    }
    after_write(turn, &outcome, acp_str_from(NULL), edit);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void after_permission(struct acp_turn *turn, const struct acp_permission_answer *answer,
                             void *user)
{
    if (answer->err == 0 && answer->kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE) {
        write_file(turn, user);
        return;
    }
    set_status(turn, ACP_TOOL_CALL_STATUS_FAILED);
    end_turn(turn, user, acp_str_from("Nothing was written."));
}

static void show_change(struct acp_turn *turn, struct edit *edit)
{
    static const struct acp_permission_option options[] = {
        {.option_id = ACP_STR("allow"),
         .name = ACP_STR("Write it"),
         .kind.is = ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE},
        {.option_id = ACP_STR("reject"),
         .name = ACP_STR("Leave the file as it is"),
         .kind.is = ACP_PERMISSION_OPTION_KIND_REJECT_ONCE},
    };
    const enum mode *mode = acp_session_user(acp_turn_session(turn));
    struct acp_tool_call_content diff = acp_tool_diff(
        acp_str_from(edit->path), acp_str_from(edit->old_text), acp_buf_view(&edit->new_text));
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, acp_str_from("edit"));
    tool.title = acp_str_from("Replace text");
    tool.kind.is = ACP_TOOL_KIND_EDIT;
    tool.status.is =
        *mode == MODE_READ_ONLY ? ACP_TOOL_CALL_STATUS_COMPLETED : ACP_TOOL_CALL_STATUS_PENDING;
    tool.content.items = &diff;
    tool.content.count = 1;
    int err = acp_turn_send_tool_call(turn, &tool);
    if (!err && *mode == MODE_READ_ONLY) {
        end_turn(turn, edit, acp_str_from("The session is read-only: nothing was written."));
        return;
    }
    if (!err && *mode == MODE_AUTO) {
        write_file(turn, edit);
        return;
    }
    if (!err)
        err = acp_turn_request_permission(turn, &tool, options, 2, after_permission, edit);
    if (err)
        fail_turn(turn, edit, "cannot ask for permission", acp_str_from(acp_err_text(err)));
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int replace_text(struct edit *edit)
{
    const char *from = edit->old_text;
    const char *found;
    while ((found = strstr(from, edit->find))) {
        int err = acp_buf_append(&edit->new_text, from, (size_t) (found - from));
        if (!err)
            err = acp_buf_append_str(&edit->new_text, acp_str_from(edit->replace));
        if (err)
            return err;
        from = found + strlen(edit->find);
    }
    return acp_buf_append_str(&edit->new_text, acp_str_from(from));
}

static void after_read(struct acp_turn *turn, const struct acp_outcome *outcome,
                       struct acp_str text, void *user)
{
    struct edit *edit = user;
    if (outcome->err) {
        fail_turn(turn, edit, "cannot read the file", outcome->why);
        return;
    }
    edit->old_text = acp_str_dup(text);
    int err = edit->old_text ? replace_text(edit) : ACP_ERR_NOMEM;
    if (err)
        fail_turn(turn, edit, "cannot make the change", acp_str_from(acp_err_text(err)));
    else if (!strstr(edit->old_text, edit->find))
        end_turn(turn, edit, acp_str_from("The file does not have that text."));
    else
        show_change(turn, edit);
}

static void read_disk(struct acp_turn *turn, struct edit *edit)
{
    struct acp_outcome outcome = {0};
    struct acp_buf text;
    char chunk[4096];
    size_t n;
    acp_buf_init(&text, MAX_FILE);
    FILE *file = fopen(edit->path, "rb");
    while (file && !outcome.err && (n = fread(chunk, 1, sizeof(chunk), file)) > 0)
        outcome.err = acp_buf_append(&text, chunk, n);
    outcome.why = acp_str_from(acp_err_text(outcome.err));
    if (!file || ferror(file)) {
        outcome.err = ACP_ERR_REMOTE;
        outcome.why = acp_str_from(strerror(errno));
    }
    if (file)
        (void) fclose(file);
    after_read(turn, &outcome, acp_buf_view(&text), edit);
    acp_buf_finish(&text);
}

static void read_file(struct acp_turn *turn, struct edit *edit)
{
    edit->by_client = true;
    if (acp_turn_read_file(turn, acp_str_from(edit->path), 0, 0, after_read, edit) == 0)
        return;
    edit->by_client = false; /* version 2, or the client does not offer its files */
    read_disk(turn, edit);
}

/* ---- The handler ----------------------------------------------------------------------------- */

/* Cuts the first line off the text. */
static char *take_line(struct acp_str *text)
{
    const char *end = text->len ? memchr(text->ptr, '\n', text->len) : NULL;
    size_t n = end ? (size_t) (end - text->ptr) : text->len;
    char *line = acp_str_dup(acp_str_n(text->ptr, n));
    *text = end ? acp_str_n(end + 1, text->len - n - 1) : acp_str_from("");
    return line;
}

static bool is_inside(const char *path, struct acp_str folder)
{
    return strlen(path) > folder.len && memcmp(path, folder.ptr, folder.len) == 0 &&
           path[folder.len] == '/' && !strstr(path, "/../");
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    struct edit *edit = calloc(1, sizeof(*edit));
    struct acp_str text = acp_str_from("");
    (void) user;
    if (!edit) {
        (void) acp_turn_fail(turn, ACP_ERROR_CODE_INTERNAL_ERROR, acp_str_from("out of memory"));
        return;
    }
    acp_buf_init(&edit->new_text, MAX_FILE);
    if (prompt.count && prompt.items[0].is == ACP_CONTENT_BLOCK_TEXT)
        text = prompt.items[0].text.text;
    edit->path = take_line(&text);
    edit->find = take_line(&text);
    edit->replace = take_line(&text);
    if (!edit->path || !edit->find || !edit->replace)
        fail_turn(turn, edit, "cannot read the prompt", acp_str_from("out of memory"));
    else if (!edit->find[0] || !is_inside(edit->path, acp_session_cwd(acp_turn_session(turn))))
        end_turn(
            turn, edit,
            acp_str_from("Please write three lines: the absolute path of a file in the session's "
                         "folder, the text to find, and the text to put in its place."));
    else
        read_file(turn, edit);
}

static void on_new_session(struct acp_session *session,
                           const struct acp_new_session_request *request, void *user)
{
    static const struct acp_session_setup setup = {
        .modes = {modes, MODE_COUNT},
        .current_mode = ACP_STR("ask"),
    };
    enum mode *mode = malloc(sizeof(*mode));
    (void) request, (void) user;
    if (!mode) {
        (void) acp_session_reject(session, ACP_ERROR_CODE_INTERNAL_ERROR,
                                  acp_str_from("out of memory"));
        return;
    }
    *mode = MODE_ASK;
    acp_session_set_user(session, mode);
    (void) acp_session_accept(session, &setup);
}

static void on_set_mode(struct acp_session *session, acp_call call, struct acp_str id, void *user)
{
    enum mode *mode = acp_session_user(session);
    (void) user;
    for (int i = 0; i < MODE_COUNT; i++) {
        if (acp_str_eq(modes[i].id, id)) {
            *mode = (enum mode) i;
            (void) acp_session_reply_set_mode(session, call, id);
            return;
        }
    }
    (void) acp_agent_respond_error(acp_session_agent(session), call, ACP_ERROR_CODE_INVALID_PARAMS,
                                   acp_str_from("no such mode"));
}

static void on_end_session(struct acp_session *session, void *user)
{
    (void) user;
    free(acp_session_user(session));
}

int main(void)
{
    static const struct acp_agent_handler handler = {
        .new_session = on_new_session,
        .end_session = on_end_session,
        .set_mode = on_set_mode,
        .prompt = on_prompt,
    };
    static const struct acp_agent_options options = {
        .name = ACP_STR("edit-agent"),
        .version = ACP_STR("1.0"),
        .versions = ACP_V1 | ACP_V2,
    };
    return acp_agent_run(&options, &handler, NULL);
}
