/* Lines that report something, among them every kind of update and of content. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor-agent.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Content -------------------------------------------------------------------------------- */

enum { BLOCKS = 6 };

/* One block of each kind, all with annotations. */
static void make_blocks(struct acp_content_block blocks[BLOCKS])
{
    static const struct acp_role audience[] = {{.is = ACP_ROLE_USER}, {.is = ACP_ROLE_ASSISTANT}};
    static const struct acp_annotations notes = {
        .audience = {audience, COUNT(audience)},
        .last_modified = ACP_STR("2026-01-02T03:04:05Z"),
        .priority = {ACP_PRESENT, 0.5},
    };
    acp_content_block_init_text(&blocks[0],
                                acp_str_from("a \"text\" with \xc3\xa9 and \xf0\x9f\x98\x80"));
    blocks[0].text.annotations = &notes;
    blocks[0].text.meta = acp_raw_from("{\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-"
                                       "b7ad6b7169203331-01\"}");
    acp_content_block_init_image(&blocks[1], acp_str_from("aW1hZ2U="), acp_str_from("image/png"));
    blocks[1].image.uri = acp_str_from("file:///w/a.png");
    blocks[1].image.annotations = &notes;
    acp_content_block_init_audio(&blocks[2], acp_str_from("YXVkaW8="), acp_str_from("audio/wav"));
    blocks[2].audio.annotations = &notes;
    acp_content_block_init_resource_link(&blocks[3], acp_str_from("a.txt"),
                                         acp_str_from("file:///w/a.txt"));
    blocks[3].resource_link.title = acp_str_from("A");
    blocks[3].resource_link.description = acp_str_from("a file");
    blocks[3].resource_link.mime_type = acp_str_from("text/plain");
    blocks[3].resource_link.size = acp_some_i64(12);
    blocks[3].resource_link.annotations = &notes;
    acp_content_block_init_resource(&blocks[4]);
    acp_embedded_resource_resource_init_text_resource_contents(
        &blocks[4].resource.resource, acp_str_from("contents"), acp_str_from("file:///w/b.txt"));
    blocks[4].resource.resource.text_resource_contents.mime_type = acp_str_from("text/plain");
    blocks[4].resource.annotations = &notes;
    acp_content_block_init_resource(&blocks[5]);
    acp_embedded_resource_resource_init_blob_resource_contents(
        &blocks[5].resource.resource, acp_str_from("AAEC"), acp_str_from("file:///w/b.bin"));
    blocks[5].resource.resource.blob_resource_contents.mime_type =
        acp_str_from("application/octet-stream");
}

enum step do_blocks(struct work *work, const char *argument)
{
    struct acp_content_block blocks[BLOCKS];
    (void) argument;
    make_blocks(blocks);
    for (size_t i = 0; i < BLOCKS; i++)
        (void) acp_turn_send_block(work->turn, &blocks[i]);
    return STEP_NEXT;
}

enum step do_big(struct work *work, const char *argument)
{
    size_t n = 0;
    (void) sscanf(argument, "%zu", &n);
    char *text = malloc(n + 1);
    if (!text)
        abort();
    memset(text, 'x', n);
    (void) acp_turn_send_text(work->turn, acp_str_n(text, n));
    free(text);
    return STEP_NEXT;
}

enum step do_chunks(struct work *work, const char *argument)
{
    size_t n = 0;
    (void) sscanf(argument, "%zu", &n);
    for (size_t i = 0; i < n; i++)
        sayf(work, "[%zu]", i);
    return STEP_NEXT;
}

/* ---- Plans and tools ------------------------------------------------------------------------ */

enum step do_plan(struct work *work, const char *argument)
{
    struct acp_plan_entry entries[3];
    (void) argument;
    acp_plan_entry_init(&entries[0], acp_str_from("look"), ACP_PLAN_ENTRY_PRIORITY_HIGH,
                        ACP_PLAN_ENTRY_STATUS_COMPLETED);
    acp_plan_entry_init(&entries[1], acp_str_from("think"), ACP_PLAN_ENTRY_PRIORITY_MEDIUM,
                        ACP_PLAN_ENTRY_STATUS_IN_PROGRESS);
    acp_plan_entry_init(&entries[2], acp_str_from("do"), ACP_PLAN_ENTRY_PRIORITY_LOW,
                        ACP_PLAN_ENTRY_STATUS_PENDING);
    (void) acp_turn_send_plan(work->turn, entries, COUNT(entries));
    return STEP_NEXT;
}

static void say_tool(struct acp_session *session)
{
    struct acp_tool_call_location where = {.path = acp_str_from("/w/a.txt"),
                                           .line = acp_some_i64(7)};
    struct acp_tool_call_content content;
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, acp_str_from("tool-1"));
    tool.title = acp_str_from("Reading a.txt");
    tool.name = acp_str_from("read_file");
    tool.kind.is = ACP_TOOL_KIND_READ;
    tool.status.is = ACP_TOOL_CALL_STATUS_PENDING;
    tool.locations.items = &where;
    tool.locations.count = 1;
    tool.raw_input = acp_raw_from("{\"path\":\"/w/a.txt\"}");
    (void) acp_session_send_tool_call(session, &tool);

    acp_tool_call_update_init(&tool, acp_str_from("tool-1"));
    tool.status.is = ACP_TOOL_CALL_STATUS_IN_PROGRESS;
    (void) acp_session_send_tool_call(session, &tool);

    acp_tool_call_update_init(&tool, acp_str_from("tool-1"));
    tool.status.is = ACP_TOOL_CALL_STATUS_COMPLETED;
    acp_tool_call_content_init_content(&content);
    acp_content_block_init_text(&content.content.content, acp_str_from("seven lines"));
    tool.content.items = &content;
    tool.content.count = 1;
    tool.raw_output = acp_raw_from("{\"lines\":7}");
    (void) acp_session_send_tool_call(session, &tool);
}

enum step do_tool(struct work *work, const char *argument)
{
    (void) argument;
    say_tool(acp_turn_session(work->turn));
    return STEP_NEXT;
}

/* A file that is changed and one that is new. */
enum step do_diff(struct work *work, const char *argument)
{
    struct acp_tool_call_content content[2];
    struct acp_tool_call_update tool;
    (void) argument;
    acp_tool_call_content_init_diff(&content[0]);
    content[0].diff.path = acp_str_from("/w/a.txt");
    content[0].diff.old_text = acp_str_from("one\ntwo\nthree\n");
    content[0].diff.new_text = acp_str_from("one\n2\nthree\n");
    acp_tool_call_content_init_diff(&content[1]);
    content[1].diff.path = acp_str_from("/w/new.txt");
    content[1].diff.new_text = acp_str_from("fresh\n");
    acp_tool_call_update_init(&tool, acp_str_from("tool-diff"));
    tool.title = acp_str_from("Editing");
    tool.kind.is = ACP_TOOL_KIND_EDIT;
    tool.status.is = ACP_TOOL_CALL_STATUS_COMPLETED;
    tool.content.items = content;
    tool.content.count = COUNT(content);
    (void) acp_turn_send_tool_call(work->turn, &tool);
    return STEP_NEXT;
}

/* Every kind and every status, those that version 1 lacks among them. */
enum step do_statuses(struct work *work, const char *argument)
{
    static const enum acp_tool_kind_is kinds[] = {
        ACP_TOOL_KIND_READ,   ACP_TOOL_KIND_EDIT,        ACP_TOOL_KIND_DELETE, ACP_TOOL_KIND_MOVE,
        ACP_TOOL_KIND_SEARCH, ACP_TOOL_KIND_EXECUTE,     ACP_TOOL_KIND_THINK,  ACP_TOOL_KIND_FETCH,
        ACP_TOOL_KIND_OTHER,  ACP_TOOL_KIND_SWITCH_MODE,
    };
    static const enum acp_tool_call_status_is statuses[] = {
        ACP_TOOL_CALL_STATUS_PENDING,   ACP_TOOL_CALL_STATUS_IN_PROGRESS,
        ACP_TOOL_CALL_STATUS_PAUSED,    ACP_TOOL_CALL_STATUS_COMPLETED,
        ACP_TOOL_CALL_STATUS_CANCELLED, ACP_TOOL_CALL_STATUS_FAILED,
    };
    struct acp_tool_call_update tool;
    (void) argument;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        char id[16];
        (void) snprintf(id, sizeof(id), "kind-%zu", i);
        acp_tool_call_update_init(&tool, acp_str_from(id));
        tool.title = acp_str_from(id);
        tool.kind.is = kinds[i];
        (void) acp_turn_send_tool_call(work->turn, &tool);
    }
    for (size_t i = 0; i < COUNT(statuses); i++) {
        acp_tool_call_update_init(&tool, acp_str_from("kind-0"));
        tool.status.is = statuses[i];
        (void) acp_turn_send_tool_call(work->turn, &tool);
    }
    return STEP_NEXT;
}

/* ---- The rest ------------------------------------------------------------------------------- */

enum step do_usage(struct work *work, const char *argument)
{
    static const struct acp_cost cost = {.amount = 0.25, .currency = ACP_STR("EUR")};
    struct acp_usage_update usage;
    (void) argument;
    acp_usage_update_init(&usage, 1234, 200000);
    usage.cost = &cost;
    (void) acp_turn_send_usage(work->turn, &usage);
    return STEP_NEXT;
}

enum step do_notice(struct work *work, const char *argument)
{
    struct acp_notice notice;
    acp_notice_init(&notice, ACP_NOTICE_SEVERITY_WARNING, acp_str_from("Low on tokens"));
    notice.description = acp_str_from(*argument ? argument : "Ten are left.");
    int err = acp_session_send_notice(acp_turn_session(work->turn), &notice);
    if (err)
        sayf(work, "notice: %s\n", acp_err_name(err));
    return STEP_NEXT;
}

enum step do_compaction(struct work *work, const char *argument)
{
    struct acp_session *session = acp_turn_session(work->turn);
    struct acp_session_update chunk;
    struct acp_compaction_update update;
    struct acp_content_block summary;
    (void) argument;
    acp_compaction_update_init(&update, acp_str_from("compaction-1"),
                               ACP_COMPACTION_STATUS_IN_PROGRESS);
    int err = acp_session_send_compaction(session, &update);
    if (err) {
        sayf(work, "compaction: %s\n", acp_err_name(err));
        return STEP_NEXT;
    }
    acp_session_update_init_compaction_summary_chunk(&chunk, acp_str_from("compaction-1"));
    acp_content_block_init_text(&chunk.compaction_summary_chunk.content,
                                acp_str_from("In short: "));
    (void) acp_session_send_update(session, &chunk);
    acp_compaction_update_init(&update, acp_str_from("compaction-1"),
                               ACP_COMPACTION_STATUS_COMPLETED);
    acp_content_block_init_text(&summary, acp_str_from("In short: much."));
    update.summary.items = &summary;
    update.summary.count = 1;
    (void) acp_session_send_compaction(session, &update);
    return STEP_NEXT;
}

enum step do_commands(struct work *work, const char *argument)
{
    struct acp_session_setup setup = make_setup(work->talk);
    (void) argument;
    (void) acp_session_send_commands(acp_turn_session(work->turn), setup.commands.items,
                                     setup.commands.count);
    return STEP_NEXT;
}

enum step do_mode(struct work *work, const char *argument)
{
    (void) snprintf(work->talk->mode, sizeof(work->talk->mode), "%s",
                    *argument ? argument : "code");
    (void) acp_session_send_mode(acp_turn_session(work->turn), acp_str_from(work->talk->mode));
    return STEP_NEXT;
}

enum step do_options(struct work *work, const char *argument)
{
    (void) argument;
    work->talk->verbose = !work->talk->verbose;
    struct acp_session_setup setup = make_setup(work->talk);
    (void) acp_session_send_options(acp_turn_session(work->turn), setup.options.items,
                                    setup.options.count);
    return STEP_NEXT;
}

enum step do_info(struct work *work, const char *argument)
{
    struct acp_session_info_update info;
    acp_session_info_update_init(&info);
    info.title = acp_str_from(*argument ? argument : "A talk");
    info.updated_at = acp_str_from("2026-01-02T03:04:05Z");
    (void) acp_session_send_info(acp_turn_session(work->turn), &info);
    return STEP_NEXT;
}

/* What only version 2 has; nothing of it has a call of its own. */
static void say_v2(struct acp_session *session)
{
    static const struct acp_terminal_size size = {.cols = 80, .rows = 24};
    static const struct acp_terminal_exit_status exit_status = {.exit_code = {ACP_PRESENT, 3},
                                                                .signal = {NULL, 0}};
    struct acp_session_update update;
    struct acp_content_block block;
    struct acp_terminal_output output;
    acp_content_block_init_text(&block, acp_str_from("all of it"));
    acp_session_update_init_agent_message(&update, acp_str_from("whole-1"));
    update.agent_message.content.items = &block;
    update.agent_message.content.count = 1;
    (void) acp_session_send_update(session, &update);
    acp_session_update_init_agent_thought(&update, acp_str_from("whole-2"));
    update.agent_thought.content.items = &block;
    update.agent_thought.content.count = 1;
    (void) acp_session_send_update(session, &update);

    acp_session_update_init_terminal_update(&update, acp_str_from("term-1"));
    update.terminal_update.command = acp_str_from("make");
    update.terminal_update.cwd = acp_session_cwd(session);
    update.terminal_update.size = &size;
    (void) acp_session_send_update(session, &update);
    acp_session_update_init_terminal_output_chunk(&update, acp_str_from("term-1"),
                                                  acp_str_from("aGkK"));
    (void) acp_session_send_update(session, &update);
    acp_session_update_init_terminal_update(&update, acp_str_from("term-1"));
    acp_terminal_output_init(&output, acp_str_from("aGkK"));
    update.terminal_update.output = &output;
    update.terminal_update.exit_status = &exit_status;
    (void) acp_session_send_update(session, &update);

    acp_session_update_init_tool_call_content_chunk(&update, acp_str_from("tool-1"));
    acp_tool_call_content_init_terminal(&update.tool_call_content_chunk.content,
                                        acp_str_from("term-1"));
    (void) acp_session_send_update(session, &update);
}

enum step do_every(struct work *work, const char *argument)
{
    struct acp_session *session = acp_turn_session(work->turn);
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from("what you said"));
    (void) acp_session_send_user_block(session, &block, acp_str_from("user-1"));
    (void) acp_turn_send_thought(work->turn, acp_str_from("hm"));
    (void) do_blocks(work, argument);
    (void) do_plan(work, argument);
    (void) do_tool(work, argument);
    (void) do_diff(work, argument);
    (void) do_commands(work, argument);
    (void) do_mode(work, argument);
    (void) do_options(work, argument);
    (void) do_info(work, argument);
    (void) do_usage(work, argument);
    (void) do_notice(work, argument);
    (void) do_compaction(work, argument);
    if (acp_agent_protocol(acp_session_agent(session)) & ACP_V2)
        say_v2(session);
    return STEP_NEXT;
}

void say_history(struct acp_session *session)
{
    struct acp_content_block blocks[BLOCKS];
    struct acp_content_block block;
    struct acp_plan_entry entry;
    make_blocks(blocks);
    acp_content_block_init_text(&block, acp_str_from("what was asked"));
    (void) acp_session_send_user_block(session, &block, acp_str_from("u-1"));
    (void) acp_session_send_user_block(session, &blocks[3], acp_str_from("u-1"));
    (void) acp_session_send_thought(session, acp_str_from("what was thought"), acp_str_from("t-1"));
    say_tool(session);
    acp_plan_entry_init(&entry, acp_str_from("done"), ACP_PLAN_ENTRY_PRIORITY_LOW,
                        ACP_PLAN_ENTRY_STATUS_COMPLETED);
    (void) acp_session_send_plan(session, &entry, 1);
    struct acp_str answer =
        acp_str_from("an-id-that-is-longer-than-those-that-the-role-makes-up-itself");
    (void) acp_session_send_text(session, acp_str_from("what was "), answer);
    (void) acp_session_send_text(session, acp_str_from("answered"), answer);
    /* Messages may be told in turns. */
    (void) acp_session_send_user_block(session, &block, acp_str_from("u-1"));
}
