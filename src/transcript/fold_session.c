/*
 * fold_session.c - what is true of the session as a whole, and the events of ours: permissions,
 * settings and notices.
 */
#include "transcript/transcript_internal.h"

#include "json/members.h"

/* A copy that lives as long as the item; absent when the text is. */
static struct acp_str keep(struct transcript *t, struct item *item, struct acp_str text)
{
    struct acp_str copy = {0};
    if (!acp_is_set(text.ptr))
        return copy;
    copy = acp_arena_copy(&item->arena, text);
    if (!copy.ptr)
        t->err = ACP_ERR_NOMEM;
    return copy;
}

static struct acp_str keep_member(struct transcript *t, struct item *item, const char *name)
{
    return keep(t, item, event_text(t, name));
}

/* ---- Opened ---------------------------------------------------------------------------------- */

void fold_opened(struct transcript *t)
{
    uint64_t version = 1;
    (void) acp_json_member_u64(t->event->body, "protocol", &version);
    t->session.protocol = version == 2 ? ACP_V2 : ACP_V1;
    struct item *item = item_add(t, ITEM_OPENED);
    if (!item)
        return;
    item->shown.opened = (struct transcript_opened){
        .agent = keep_member(t, item, "agent"),
        .agent_session = keep_member(t, item, "agentSession"),
        .cwd = keep_member(t, item, "cwd"),
        .how = keep_member(t, item, "how"),
        .protocol = t->session.protocol,
    };
    item_end(t, item, CHANGE_NEW);
}

/* ---- Modes, options, commands ---------------------------------------------------------------- */

/* What is larger than the limit is not kept, and the old value is none any more. */
static void keep_raw(struct transcript *t, struct acp_buf *buf)
{
    acp_buf_clear(buf);
    if (acp_buf_append(buf, t->event->body.ptr, t->event->body.len) == ACP_ERR_NOMEM)
        t->err = ACP_ERR_NOMEM;
}

static void set_mode(struct transcript *t, struct acp_str mode, unsigned what)
{
    if (mode.len <= TRANSCRIPT_MAX_ID)
        replace_text(t, &t->mode, mode);
    t->session.mode = acp_str_from(t->mode);
    struct transcript_change *change = note_change(t, NULL, what);
    if (change)
        change->text = mode;
}

/* An update of the current one, or what session/new has answered. */
void fold_mode(struct transcript *t)
{
    const struct acp_session_update *update;
    struct acp_session_mode_state state;
    int err = event_decode(t->event, t->session.protocol, &t->arena, &update);
    if (!err) {
        if (update->is == ACP_SESSION_UPDATE_CURRENT_MODE_UPDATE)
            set_mode(t, update->current_mode_update.current_mode_id, CHANGE_MODE);
        return;
    }
    if (err != ACP_ERR_NOMEM)
        err = acp_decode(ACP_TYPE_SESSION_MODE_STATE, ACP_V1, t->event->body, &t->arena, &state,
                         NULL);
    if (err == ACP_ERR_NOMEM)
        t->err = err;
    if (err)
        return;
    keep_raw(t, &t->modes);
    set_mode(t, state.current_mode_id, CHANGE_MODES);
}

void fold_options(struct transcript *t)
{
    keep_raw(t, &t->config_options);
    (void) note_change(t, NULL, CHANGE_OPTIONS);
}

void fold_commands(struct transcript *t)
{
    keep_raw(t, &t->commands);
    (void) note_change(t, NULL, CHANGE_COMMANDS);
}

void fold_info(struct transcript *t, const struct acp_session_info_update *info)
{
    if (!info->title.ptr || info->title.len > TRANSCRIPT_MAX_REASON)
        return;
    replace_text(t, &t->title, info->title);
    t->session.title = acp_str_from(t->title);
    (void) note_change(t, NULL, CHANGE_TITLE);
}

static struct acp_raw raw_of(const struct acp_buf *buf)
{
    struct acp_str text = acp_buf_view(buf);
    return acp_raw_n(text.ptr, text.len);
}

int transcript_modes(const struct transcript *t, struct acp_arena *arena,
                     struct acp_session_mode_list *ret)
{
    struct acp_session_mode_state state = {0};
    int err = 0;
    if (t->modes.len)
        err =
            acp_decode(ACP_TYPE_SESSION_MODE_STATE, ACP_V1, raw_of(&t->modes), arena, &state, NULL);
    if (!err)
        *ret = state.available_modes;
    return err;
}

static int decode_update(const struct transcript *t, const struct acp_buf *body,
                         struct acp_arena *arena, struct acp_session_update *ret)
{
    return acp_decode(ACP_TYPE_SESSION_UPDATE, t->session.protocol | ACP_UNSTABLE, raw_of(body),
                      arena, ret, NULL);
}

int transcript_config_options(const struct transcript *t, struct acp_arena *arena,
                              struct acp_session_config_option_list *ret)
{
    struct acp_session_update update = {0};
    int err = t->config_options.len ? decode_update(t, &t->config_options, arena, &update) : 0;
    if (!err && update.is != ACP_SESSION_UPDATE_CONFIG_OPTION_UPDATE)
        update = (struct acp_session_update){0};
    if (!err)
        *ret = update.config_option_update.config_options;
    return err;
}

int transcript_commands(const struct transcript *t, struct acp_arena *arena,
                        struct acp_available_command_list *ret)
{
    struct acp_session_update update = {0};
    int err = t->commands.len ? decode_update(t, &t->commands, arena, &update) : 0;
    if (!err && update.is != ACP_SESSION_UPDATE_AVAILABLE_COMMANDS_UPDATE)
        update = (struct acp_session_update){0};
    if (!err)
        *ret = update.available_commands_update.available_commands;
    return err;
}

/* ---- Events of ours -------------------------------------------------------------------------- */

static struct acp_str_list keep_paths(struct transcript *t, struct item *item)
{
    struct acp_json_reader r;
    struct acp_str *paths = NULL;
    size_t count = 0;
    size_t room = 0;
    bool found =
        acp_json_find_member(t->event->body, "paths", &t->arena, &r) && !acp_json_enter_array(&r);
    while (found && acp_json_next_item(&r) > 0) {
        struct acp_str path;
        if (acp_json_read_str(&r, &path)) {
            (void) acp_json_skip(&r);
            continue;
        }
        if (count == room) {
            room = room ? room * 2 : 4;
            paths = acp_arena_grow(&item->arena, paths, count * sizeof(path), room * sizeof(path));
        }
        if (!paths)
            break;
        paths[count++] = keep(t, item, path);
    }
    if (r.err == ACP_ERR_NOMEM || (room && !paths))
        t->err = ACP_ERR_NOMEM;
    return (struct acp_str_list){paths, paths ? count : 0};
}

void fold_permission(struct transcript *t)
{
    struct item *item = item_add(t, ITEM_PERMISSION);
    if (!item)
        return;
    struct acp_str verdict = event_text(t, "verdict");
    item->shown.permission = (struct transcript_permission){
        .kind = keep_member(t, item, "kind"),
        .command = keep_member(t, item, "command"),
        .cwd = keep_member(t, item, "cwd"),
        .paths = keep_paths(t, item),
        .is_allowed = acp_str_is(verdict, "allow"),
        .is_other = acp_str_is(verdict, "other"),
        .option = keep_member(t, item, "option"),
        .by = keep_member(t, item, "by"),
    };
    note_text(t, item, event_text(t, "title"), CHANGE_NEW);
    item_end(t, item, 0);
}

void fold_elicitation(struct transcript *t)
{
    struct item *item = item_add(t, ITEM_ELICITATION);
    if (!item)
        return;
    item->shown.elicitation = (struct transcript_elicitation){
        .url = keep_member(t, item, "url"),
        .action = keep_member(t, item, "action"),
    };
    (void) acp_json_member_bool(t->event->body, "unasked", &item->shown.elicitation.unasked);
    note_text(t, item, event_text(t, "message"), CHANGE_NEW);
    item_end(t, item, 0);
}

void fold_setting(struct transcript *t)
{
    struct item *item = item_add(t, ITEM_SETTING);
    if (!item)
        return;
    item->shown.setting = keep_member(t, item, "value");
    note_text(t, item, event_text(t, "name"), CHANGE_NEW);
    item_end(t, item, 0);
}

void fold_message_of_ours(struct transcript *t, enum transcript_item_kind kind)
{
    struct acp_str message = event_text(t, "message");
    if (kind == ITEM_CLOSED)
        end_background(t, message);
    struct item *item = item_add(t, kind);
    if (!item)
        return;
    note_text(t, item, message, CHANGE_NEW);
    item_end(t, item, 0);
}

void fold_notice(struct transcript *t, const struct acp_notice *notice)
{
    struct item *item = item_add(t, ITEM_NOTICE);
    if (!item)
        return;
    item->shown.notice = (struct transcript_notice){
        .from_agent = true,
        .severity = notice->severity.is,
        .description = keep(t, item, notice->description),
    };
    note_text(t, item, notice->title, CHANGE_NEW);
    item_end(t, item, 0);
}
