/* mcp_read.c - reads what MCP servers answer to initialize and to requests for lists. */
#include "base/utf8.h"
#include "mcp/mcp_internal.h"

/* ---- Texts ----------------------------------------------------------------------------------- */

/* Skips a value that is not a text, and leaves *ret as it is. */
static int read_text(struct acp_json_reader *r, struct acp_str *ret)
{
    return acp_json_peek(r) == ACP_JSON_STRING ? acp_json_read_str(r, ret) : acp_json_skip(r);
}

static int read_hint(struct acp_json_reader *r, struct acp_opt_bool *ret)
{
    bool value;
    if (acp_json_peek(r) != ACP_JSON_BOOL)
        return acp_json_skip(r);
    int err = acp_json_read_bool(r, &value);
    if (!err)
        *ret = acp_some_bool(value);
    return err;
}

/* Absent becomes empty.  False if out of memory. */
static bool keep(struct acp_arena *arena, struct acp_str *text, size_t max)
{
    *text = acp_arena_copy(arena, text->ptr ? acp_str_cut(*text, max) : acp_str_from(""));
    return text->ptr != NULL;
}

static bool keep_raw(struct acp_arena *arena, struct acp_raw *raw)
{
    if (!raw->len)
        return true;
    struct acp_str copy = acp_arena_copy(arena, acp_str_n(raw->ptr, raw->len));
    *raw = acp_raw_n(copy.ptr, copy.len);
    return copy.ptr != NULL;
}

/* ---- initialize ------------------------------------------------------------------------------ */

bool mcp_knows_version(struct acp_str version)
{
    return acp_str_is(version, MCP_NEWEST_VERSION) || acp_str_is(version, "2025-06-18") ||
           acp_str_is(version, "2025-03-26") || acp_str_is(version, "2024-11-05");
}

/* Whether a capability is there; *ret_flag, which may be NULL, is its member of that name. */
static int read_capability(struct acp_json_reader *r, bool *ret, const char *flag, bool *ret_flag)
{
    struct acp_str key;
    int more;
    if (acp_json_peek(r) != ACP_JSON_OBJECT)
        return acp_json_skip(r);
    *ret = true;
    (void) acp_json_enter_object(r);
    while ((more = acp_json_next_key(r, &key)) > 0) {
        if (ret_flag && acp_str_is(key, flag) && acp_json_peek(r) == ACP_JSON_BOOL)
            (void) acp_json_read_bool(r, ret_flag);
        else
            (void) acp_json_skip(r);
    }
    return more;
}

static int read_capabilities(struct acp_json_reader *r, struct mcp_info *info)
{
    struct acp_str key;
    int more;
    if (acp_json_peek(r) != ACP_JSON_OBJECT)
        return acp_json_skip(r);
    (void) acp_json_enter_object(r);
    while ((more = acp_json_next_key(r, &key)) > 0) {
        if (acp_str_is(key, "tools"))
            (void) read_capability(r, &info->tools, NULL, NULL);
        else if (acp_str_is(key, "prompts"))
            (void) read_capability(r, &info->prompts, NULL, NULL);
        else if (acp_str_is(key, "resources"))
            (void) read_capability(r, &info->resources, "subscribe", &info->subscribe);
        else if (acp_str_is(key, "completions"))
            (void) read_capability(r, &info->completions, NULL, NULL);
        else if (acp_str_is(key, "logging"))
            (void) read_capability(r, &info->logging, NULL, NULL);
        else
            (void) acp_json_skip(r);
    }
    return more;
}

static int read_server_info(struct acp_json_reader *r, struct mcp_info *info)
{
    struct acp_str key;
    int more;
    if (acp_json_peek(r) != ACP_JSON_OBJECT)
        return acp_json_skip(r);
    (void) acp_json_enter_object(r);
    while ((more = acp_json_next_key(r, &key)) > 0) {
        if (acp_str_is(key, "name"))
            (void) read_text(r, &info->server_name);
        else if (acp_str_is(key, "title"))
            (void) read_text(r, &info->server_title);
        else if (acp_str_is(key, "version"))
            (void) read_text(r, &info->server_version);
        else
            (void) acp_json_skip(r);
    }
    return more;
}

static bool keep_info(struct mcp_info *info, struct acp_arena *arena)
{
    return keep(arena, &info->version, MCP_MAX_NAME) &&
           keep(arena, &info->server_name, MCP_MAX_NAME) &&
           keep(arena, &info->server_title, MCP_MAX_NAME) &&
           keep(arena, &info->server_version, MCP_MAX_NAME) &&
           keep(arena, &info->instructions, MCP_MAX_INSTRUCTIONS);
}

int mcp_read_info(struct acp_raw result, struct acp_arena *arena, struct mcp_info *ret)
{
    struct acp_json_reader r;
    struct mcp_info info = {0};
    struct acp_str key;
    int more;
    acp_json_reader_init(&r, result, arena, 0);
    int err = acp_json_enter_object(&r);
    if (err)
        return err;
    while ((more = acp_json_next_key(&r, &key)) > 0) {
        if (acp_str_is(key, "protocolVersion"))
            (void) read_text(&r, &info.version);
        else if (acp_str_is(key, "capabilities"))
            (void) read_capabilities(&r, &info);
        else if (acp_str_is(key, "serverInfo"))
            (void) read_server_info(&r, &info);
        else if (acp_str_is(key, "instructions"))
            (void) read_text(&r, &info.instructions);
        else
            (void) acp_json_skip(&r);
    }
    if (more < 0)
        return more;
    if (!info.version.len)
        return ACP_ERR_TYPE;
    if (!keep_info(&info, arena))
        return ACP_ERR_LIMIT;
    *ret = info;
    return 0;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static const struct {
    const char *key;
    const char *method;
} kinds[MCP_LIST_KINDS] = {
    [MCP_TOOLS] = {"tools", "tools/list"},
    [MCP_PROMPTS] = {"prompts", "prompts/list"},
    [MCP_RESOURCES] = {"resources", "resources/list"},
    [MCP_TEMPLATES] = {"resourceTemplates", "resources/templates/list"},
};

const char *mcp_list_key(enum mcp_list_kind kind)
{
    return kinds[kind].key;
}

const char *mcp_list_method(enum mcp_list_kind kind)
{
    return kinds[kind].method;
}

void mcp_list_init(struct mcp_list *list)
{
    *list = (struct mcp_list){0};
    acp_arena_init(&list->arena, MCP_MAX_LIST);
}

void mcp_list_finish(struct mcp_list *list)
{
    acp_arena_finish(&list->arena);
}

static int read_annotations(struct acp_json_reader *r, struct mcp_item *item)
{
    struct acp_str key;
    int more;
    if (acp_json_peek(r) != ACP_JSON_OBJECT)
        return acp_json_skip(r);
    (void) acp_json_enter_object(r);
    while ((more = acp_json_next_key(r, &key)) > 0) {
        if (acp_str_is(key, "title") && !item->title.len)
            (void) read_text(r, &item->title);
        else if (acp_str_is(key, "readOnlyHint"))
            (void) read_hint(r, &item->read_only);
        else if (acp_str_is(key, "destructiveHint"))
            (void) read_hint(r, &item->destructive);
        else
            (void) acp_json_skip(r);
    }
    return more;
}

static int read_item_key(struct acp_json_reader *r, struct acp_str key, struct mcp_item *item)
{
    if (acp_str_is(key, "name"))
        return read_text(r, &item->name);
    if (acp_str_is(key, "title"))
        return read_text(r, &item->title);
    if (acp_str_is(key, "description"))
        return read_text(r, &item->description);
    if (acp_str_is(key, "uri") || acp_str_is(key, "uriTemplate"))
        return read_text(r, &item->uri);
    if (acp_str_is(key, "mimeType"))
        return read_text(r, &item->mime);
    if (acp_str_is(key, "inputSchema") && acp_json_peek(r) == ACP_JSON_OBJECT)
        return acp_json_read_raw(r, &item->schema);
    if (acp_str_is(key, "arguments") && acp_json_peek(r) == ACP_JSON_ARRAY)
        return acp_json_read_raw(r, &item->arguments);
    if (acp_str_is(key, "annotations"))
        return read_annotations(r, item);
    return acp_json_skip(r);
}

static int read_item(struct acp_json_reader *r, struct mcp_item *item)
{
    struct acp_str key;
    int more;
    if (acp_json_peek(r) != ACP_JSON_OBJECT)
        return acp_json_skip(r);
    (void) acp_json_enter_object(r);
    while ((more = acp_json_next_key(r, &key)) > 0)
        (void) read_item_key(r, key, item);
    return more;
}

/* Tools and prompts are called by their names, resources by their URIs. */
static struct acp_str id_of(const struct mcp_item *item, enum mcp_list_kind kind)
{
    return kind == MCP_TOOLS || kind == MCP_PROMPTS ? item->name : item->uri;
}

static bool is_usable(const struct mcp_list *list, enum mcp_list_kind kind,
                      const struct mcp_item *item)
{
    struct acp_str id = id_of(item, kind);
    if (!id.len || item->name.len > MCP_MAX_NAME || item->uri.len > MCP_MAX_URI)
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (acp_str_eq(id_of(&list->items[i], kind), id))
            return false;
    return true;
}

/* Copies the item, which may point into the message. */
static int add_item(struct mcp_list *list, enum mcp_list_kind kind, const struct mcp_item *item)
{
    struct mcp_item copy = *item;
    if (!is_usable(list, kind, item))
        return 0;
    if (list->count == MCP_MAX_TOOLS)
        return ACP_ERR_LIMIT;
    if (list->count == list->cap) {
        size_t cap = list->cap ? 2 * list->cap : 16;
        struct mcp_item *items = acp_arena_grow(&list->arena, list->items,
                                                list->cap * sizeof(*items), cap * sizeof(*items));
        if (!items)
            return ACP_ERR_LIMIT;
        list->items = items;
        list->cap = cap;
    }
    if (kind == MCP_TOOLS && !copy.schema.len)
        copy.schema = acp_raw_from("{\"type\":\"object\"}");
    if (!keep(&list->arena, &copy.name, MCP_MAX_NAME) ||
        !keep(&list->arena, &copy.title, MCP_MAX_NAME) ||
        !keep(&list->arena, &copy.description, MCP_MAX_DESCRIPTION) ||
        !keep(&list->arena, &copy.uri, MCP_MAX_URI) ||
        !keep(&list->arena, &copy.mime, MCP_MAX_NAME) || !keep_raw(&list->arena, &copy.schema) ||
        !keep_raw(&list->arena, &copy.arguments))
        return ACP_ERR_LIMIT;
    list->items[list->count++] = copy;
    return 0;
}

static int read_items(struct acp_json_reader *r, enum mcp_list_kind kind, struct mcp_list *list)
{
    int err = 0;
    int more;
    if (acp_json_peek(r) != ACP_JSON_ARRAY)
        return ACP_ERR_TYPE;
    (void) acp_json_enter_array(r);
    while ((more = acp_json_next_item(r)) > 0) {
        struct mcp_item item = {0};
        if (read_item(r, &item) == 0 && !err)
            err = add_item(list, kind, &item);
    }
    return more < 0 ? more : err;
}

int mcp_read_list(struct acp_raw result, enum mcp_list_kind kind, struct mcp_list *list,
                  struct acp_str *ret_cursor)
{
    struct acp_json_reader r;
    struct acp_str cursor = {0};
    struct acp_str key;
    bool has_list = false;
    int list_err = 0;
    int more;
    acp_json_reader_init(&r, result, &list->arena, 0);
    int err = acp_json_enter_object(&r);
    if (err)
        return err;
    while ((more = acp_json_next_key(&r, &key)) > 0 && list_err != ACP_ERR_TYPE) {
        if (acp_str_is(key, kinds[kind].key)) {
            list_err = read_items(&r, kind, list);
            has_list = true;
        } else if (acp_str_is(key, "nextCursor")) {
            (void) read_text(&r, &cursor);
        } else {
            (void) acp_json_skip(&r);
        }
    }
    if (list_err || more < 0)
        return list_err ? list_err : more;
    if (!has_list)
        return ACP_ERR_TYPE;
    *ret_cursor = cursor.len ? acp_arena_copy(&list->arena, cursor) : (struct acp_str){0};
    return cursor.len && !ret_cursor->ptr ? ACP_ERR_LIMIT : 0;
}

/* ---- Progress -------------------------------------------------------------------------------- */

static int read_number(struct acp_json_reader *r, struct acp_opt_f64 *ret)
{
    double value;
    if (acp_json_peek(r) != ACP_JSON_NUMBER)
        return acp_json_skip(r);
    int err = acp_json_read_f64(r, &value);
    if (!err)
        *ret = acp_some_f64(value);
    return err;
}

int mcp_read_progress(struct acp_raw params, struct acp_arena *arena, struct mcp_progress_note *ret)
{
    struct acp_json_reader r;
    struct mcp_progress_note note = {.progress.message = acp_str_from("")};
    struct acp_opt_f64 progress = {0};
    struct acp_str key;
    bool has_token = false;
    int more;
    acp_json_reader_init(&r, params, arena, 0);
    int err = acp_json_enter_object(&r);
    if (err)
        return err;
    while ((more = acp_json_next_key(&r, &key)) > 0) {
        if (acp_str_is(key, "progressToken") && acp_json_peek(&r) == ACP_JSON_NUMBER)
            has_token = acp_json_read_u64(&r, &note.token) == 0;
        else if (acp_str_is(key, "progress"))
            (void) read_number(&r, &progress);
        else if (acp_str_is(key, "total"))
            (void) read_number(&r, &note.progress.total);
        else if (acp_str_is(key, "message"))
            (void) read_text(&r, &note.progress.message);
        else
            (void) acp_json_skip(&r);
    }
    if (more < 0)
        return more;
    if (!has_token)
        return ACP_ERR_TYPE;
    note.progress.progress = progress.value;
    *ret = note;
    return 0;
}
