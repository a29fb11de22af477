/* complete_values.c - see complete_values.h. */
#include "cmd/complete_values.h"

#include <stdio.h>

#include "acp/types.h"
#include "cmd/conversation_setup.h"
#include "cmd/sessions.h"
#include "store/store.h"

/* An agent reports modes and options when a session is opened: they are among the first events. */
enum { MOST_SESSIONS = 50, MOST_VALUES = 500, FIRST_EVENTS = 200 };

struct values {
    struct acp_arena *arena; /* of the invocation */
    enum option_kind kind;
    struct candidate *items; /* ends with one without a word */
    size_t count;
    struct transcript *transcript;
    struct acp_str session; /* the latest one of the agent */
};

static const char *copy(struct values *values, struct acp_str text)
{
    return acp_arena_copy(values->arena, text).ptr;
}

static void add(struct values *values, struct acp_str word, struct acp_str meaning)
{
    if (!word.len || values->count >= MOST_VALUES)
        return;
    for (size_t i = 0; i < values->count; i++)
        if (acp_str_is(word, values->items[i].word))
            return;
    const char *text = copy(values, word);
    const char *about = meaning.len ? copy(values, meaning) : NULL;
    if (!text)
        return;
    values->items[values->count++] = (struct candidate){text, about};
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static int add_session(const struct store_session *session, void *user)
{
    add(user, session->name, session->title);
    add(user, store_short_id(session->id), session->title);
    return 0;
}

/* ---- Models and modes ------------------------------------------------------------------------ */

static int note_session(const struct store_session *session, void *user)
{
    struct values *values = user;
    values->session = acp_arena_copy(values->arena, session->id);
    return 0;
}

static int fold_event(const struct store_event *event, void *user)
{
    struct values *values = user;
    struct session_event one;
    struct transcript_changes changes;
    return sessions_event(event, &one) ? transcript_add(values->transcript, &one, &changes) : 0;
}

static void add_choices(struct values *values, const struct acp_session_config_option *option)
{
    const struct acp_session_config_select_options *choices = &option->select.options;
    if (choices->is == ACP_SESSION_CONFIG_SELECT_OPTIONS_UNGROUPED)
        for (size_t i = 0; i < choices->ungrouped.count; i++)
            add(values, choices->ungrouped.items[i].value, choices->ungrouped.items[i].name);
    else if (choices->is == ACP_SESSION_CONFIG_SELECT_OPTIONS_GROUPED)
        for (size_t i = 0; i < choices->grouped.count; i++)
            for (size_t j = 0; j < choices->grouped.items[i].options.count; j++)
                add(values, choices->grouped.items[i].options.items[j].value,
                    choices->grouped.items[i].options.items[j].name);
}

static void add_offered(struct values *values)
{
    const char *category = values->kind == OPTION_MODEL ? "model" : "mode";
    struct acp_session_config_option_list options;
    struct acp_session_mode_list modes;
    if (transcript_config_options(values->transcript, values->arena, &options) == 0)
        for (size_t i = 0; i < options.count; i++)
            if (options.items[i].is == ACP_SESSION_CONFIG_OPTION_SELECT &&
                (acp_str_is(options.items[i].category.text, category) ||
                 acp_str_is(options.items[i].id, category)))
                add_choices(values, &options.items[i]);
    if (values->kind == OPTION_MODE &&
        transcript_modes(values->transcript, values->arena, &modes) == 0)
        for (size_t i = 0; i < modes.count; i++)
            add(values, modes.items[i].id, modes.items[i].name);
}

static void read_offered(struct values *values, struct store *store, const char *agent)
{
    const struct store_filter filter = {
        .agent = acp_str_from(agent), .not_empty = true, .limit = 1};
    if (store_list(store, &filter, note_session, values, NULL) || !values->session.ptr ||
        transcript_new(NULL, &values->transcript))
        return;
    if (store_events(store, values->session, 1, FIRST_EVENTS, fold_event, values, NULL) == 0)
        add_offered(values);
    transcript_free(values->transcript);
}

/* ---- Both ------------------------------------------------------------------------------------ */

const struct candidate *complete_values(struct invocation *invocation, enum option_kind kind)
{
    static const struct agent_flags no_flags;
    struct conversation_setup setup;
    struct store *store = NULL;
    struct values values = {.arena = &invocation->arena, .kind = kind};
    values.items = acp_arena_alloc(&invocation->arena, (MOST_VALUES + 1) * sizeof(*values.items));
    bool is_ready = values.items && conversation_setup_inspect(&setup, &no_flags) == 0;
    const char *path = is_ready ? conversation_setup_store_path(&setup) : NULL;
    if (path && store_open(path, 0, &store, NULL) == 0) {
        const struct store_filter latest = {.limit = MOST_SESSIONS};
        if (kind == OPTION_SESSION)
            (void) store_list(store, &latest, add_session, &values, NULL);
        else
            read_offered(&values, store,
                         invocation->agent ? invocation->agent
                                           : conversation_setup_default_agent(&setup));
        store_close(store);
    }
    if (values.items)
        conversation_setup_finish(&setup);
    return values.items;
}
