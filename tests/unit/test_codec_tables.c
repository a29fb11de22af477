/* The description at run time: every method and every type, in every version. */
#include "helpers.h"

#include "acp/types.h"
#include "codec/describe.h"
#include "codec/walk.h"

static const unsigned modes[] = {ACP_V1, ACP_V1 | ACP_UNSTABLE, ACP_V2, ACP_V2 | ACP_UNSTABLE};

static const struct {
    const char *name;
    enum acp_side from;
    int v1; /* in which schemas: 0 none, 1 both, 2 the unstable one */
    int v2;
    bool request;
    int id;
} methods[] = {
    {"initialize", ACP_SIDE_CLIENT, 1, 1, true, ACP_METHOD_INITIALIZE},
    {"authenticate", ACP_SIDE_CLIENT, 1, 0, true, ACP_METHOD_AUTHENTICATE},
    {"session/new", ACP_SIDE_CLIENT, 1, 1, true, ACP_METHOD_SESSION_NEW},
    {"session/load", ACP_SIDE_CLIENT, 1, 0, true, ACP_METHOD_SESSION_LOAD},
    {"session/resume", ACP_SIDE_CLIENT, 1, 1, true, ACP_METHOD_SESSION_RESUME},
    {"session/fork", ACP_SIDE_CLIENT, 2, 2, true, ACP_METHOD_SESSION_FORK},
    {"session/list", ACP_SIDE_CLIENT, 1, 1, true, ACP_METHOD_SESSION_LIST},
    {"session/prompt", ACP_SIDE_CLIENT, 1, 1, true, ACP_METHOD_SESSION_PROMPT},
    {"session/cancel", ACP_SIDE_CLIENT, 1, 1, false, ACP_METHOD_SESSION_CANCEL},
    {"session/update", ACP_SIDE_AGENT, 1, 1, false, ACP_METHOD_SESSION_UPDATE},
    {"session/request_permission", ACP_SIDE_AGENT, 1, 1, true,
     ACP_METHOD_SESSION_REQUEST_PERMISSION},
    {"fs/read_text_file", ACP_SIDE_AGENT, 1, 0, true, ACP_METHOD_FS_READ_TEXT_FILE},
    {"fs/write_text_file", ACP_SIDE_AGENT, 1, 0, true, ACP_METHOD_FS_WRITE_TEXT_FILE},
    {"terminal/create", ACP_SIDE_AGENT, 1, 0, true, ACP_METHOD_TERMINAL_CREATE},
    {"tool_call/cancel", ACP_SIDE_CLIENT, 0, 1, true, ACP_METHOD_TOOL_CALL_CANCEL},
    {"$/cancel_request", ACP_SIDE_ANY, 1, 1, false, ACP_METHOD_CANCEL_REQUEST},
    {"mcp/message", ACP_SIDE_AGENT, 2, 2, true, ACP_METHOD_MCP_MESSAGE},
    {"mcp/message", ACP_SIDE_CLIENT, 2, 2, false, ACP_METHOD_MCP_MESSAGE},
};

static void methods_that_everybody_knows(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(methods); i++) {
        for (size_t m = 0; m < COUNT(modes); m++) {
            struct acp_method found;
            int in = m < 2 ? methods[i].v1 : methods[i].v2;
            bool want = in == 1 || (in == 2 && (modes[m] & ACP_UNSTABLE));
            bool got =
                acp_method_find(acp_str_from(methods[i].name), methods[i].from, modes[m], &found);
            CHECK_ROW(got == want, i, "%s in mode %u", methods[i].name, modes[m]);
            if (!got)
                continue;
            assert_true(acp_str_is(found.name, methods[i].name));
            CHECK_ROW(found.request == methods[i].request, i, "%s", methods[i].name);
            CHECK_ROW(found.id == methods[i].id, i, "%s", methods[i].name);
            CHECK_ROW((found.result == ACP_TYPE_NONE) == !found.request, i, "%s", methods[i].name);
        }
    }
}

static bool same_method(const struct acp_method *a, const struct acp_method *b)
{
    return acp_str_eq(a->name, b->name) && a->id == b->id && a->request == b->request &&
           a->from == b->from && a->to == b->to && a->params == b->params &&
           a->result == b->result && acp_str_eq(a->gate, b->gate);
}

static void check_method_type(acp_type_id type, unsigned mode)
{
    if (type == ACP_TYPE_ANY)
        return;
    assert_true(acp_type_size(type) > 0);
    assert_true(acp_types[type].profiles & acp_profile_of(mode));
    /* Between the versions names may be shared, so the name finds a type of this one. */
    assert_int_equal(acp_type_find(acp_type_name(type), mode), type);
}

/* Every row of a version is found by its name and by the side that sends it. */
static void every_method_is_found_by_name(void **state)
{
    (void) state;
    for (size_t m = 0; m < COUNT(modes); m++) {
        struct acp_method row;
        size_t count = 0;
        for (; acp_method_at(count, modes[m], &row); count++) {
            struct acp_method found;
            assert_true(acp_method_find(row.name, row.from, modes[m], &found));
            if (found.request == row.request)
                assert_true(same_method(&row, &found));
            else /* one name for a request and a notification of the same side */
                assert_true(acp_str_is(row.name, "proxy/successor"));
            if (row.from == ACP_SIDE_CLIENT)
                assert_true(!acp_method_find(row.name, ACP_SIDE_AGENT, modes[m], &found) ||
                            found.from != ACP_SIDE_CLIENT);
            assert_true(acp_method_find(row.name, ACP_SIDE_ANY, modes[m], &found));
            check_method_type(row.params, modes[m]);
            if (row.request)
                check_method_type(row.result, modes[m]);
            else
                assert_int_equal(row.result, ACP_TYPE_NONE);
            assert_true(row.gate.ptr == NULL || row.gate.len > 0);
        }
        assert_true(count >= 15);
        assert_false(acp_method_at(count + 100, modes[m], &row));
    }
}

static void names_that_are_no_method_are_not_found(void **state)
{
    (void) state;
    static const char *const names[] = {"",
                                        "a",
                                        "zzz",
                                        "session",
                                        "session/",
                                        "session/newx",
                                        "session/ne",
                                        "SESSION/NEW",
                                        "_auth/status_update",
                                        "qwen/notify/session/mode-update"};
    struct acp_method found;
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t m = 0; m < COUNT(modes); m++)
            assert_false(acp_method_find(acp_str_from(names[i]), ACP_SIDE_ANY, modes[m], &found));
    assert_false(acp_method_find(acp_str_from("initialize"), ACP_SIDE_AGENT, ACP_V1, &found));
    assert_false(acp_method_find(acp_str_from("session/update"), ACP_SIDE_CLIENT, ACP_V1, &found));
    assert_false(acp_method_find(acp_str_from("initialize"), ACP_SIDE_CLIENT, 0, &found));
    assert_false(acp_method_find(acp_str_from(NULL), ACP_SIDE_CLIENT, ACP_V1, &found));
    assert_false(acp_method_at(0, 0, &found));
}

static void gates_are_those_of_the_version(void **state)
{
    (void) state;
    struct acp_method m;
    assert_true(acp_method_find(acp_str_from("session/load"), ACP_SIDE_CLIENT, ACP_V1, &m));
    assert_text_equal(m.gate, "agentCapabilities.loadSession");
    assert_true(acp_method_find(acp_str_from("session/prompt"), ACP_SIDE_CLIENT, ACP_V1, &m));
    assert_null(m.gate.ptr);
    assert_true(acp_method_find(acp_str_from("session/prompt"), ACP_SIDE_CLIENT, ACP_V2, &m));
    assert_text_equal(m.gate, "capabilities.session");
    assert_true(acp_method_find(acp_str_from("tool_call/cancel"), ACP_SIDE_CLIENT, ACP_V2, &m));
    assert_text_equal(m.gate, "capabilities.cancel of the tool call");
}

static void types_differ_between_versions_where_names_do_not(void **state)
{
    (void) state;
    assert_int_equal(acp_type_find(acp_str_from("AvailableCommand"), ACP_V1),
                     ACP_TYPE_AVAILABLE_COMMAND);
    assert_int_equal(acp_type_find(acp_str_from("AvailableCommand"), ACP_V2),
                     ACP_TYPE_AVAILABLE_COMMAND_V2);
    assert_int_equal(acp_type_find(acp_str_from("Plan"), ACP_V1), ACP_TYPE_PLAN);
    assert_int_equal(acp_type_find(acp_str_from("Plan"), ACP_V2), ACP_TYPE_NONE);
    assert_int_equal(acp_type_find(acp_str_from("Usage"), ACP_V1), ACP_TYPE_NONE);
    assert_int_equal(acp_type_find(acp_str_from("Usage"), ACP_V1 | ACP_UNSTABLE), ACP_TYPE_USAGE);
    assert_int_equal(acp_type_find(acp_str_from("Plan"), 0), ACP_TYPE_NONE);
    assert_int_equal(acp_type_find(acp_str_from(""), ACP_V1), ACP_TYPE_NONE);
    assert_int_equal(acp_type_find(acp_str_from("plan"), ACP_V1), ACP_TYPE_NONE);
    assert_text_equal(acp_type_name(ACP_TYPE_PLAN), "Plan");
    assert_int_equal(acp_type_size(ACP_TYPE_PLAN), sizeof(struct acp_plan));
    assert_null(acp_type_name(-1).ptr);
    assert_null(acp_type_name(0).ptr);
    assert_int_equal(acp_type_size(0), 0);
    assert_null(acp_type_name(acp_type_count).ptr);
    assert_int_equal(acp_type_size(-1), 0);
    assert_int_equal(acp_type_size(acp_type_count), 0);
}

/* What the codec takes for granted about its tables. */
static void tables_are_sound(void **state)
{
    (void) state;
    for (int t = 1; t < acp_type_count; t++) {
        if (!acp_type_exists(t))
            continue;
        const struct acp_type *type = &acp_types[t];
        const struct acp_field *f = &acp_fields[type->first_field];
        assert_true(type->size <= ACP_NULL_SIZE);
        assert_true(type->field_count <= 64);
        assert_true(type->profiles != 0 && type->profiles <= 15);
        for (unsigned n = 0; n < type->field_count; n++, f++) {
            assert_true(f->offset + acp_storage_size(f) <= type->size);
            assert_int_equal(f->profiles & ~type->profiles, 0);
            if (f->kind == ACP_KIND_TYPE || f->kind == ACP_KIND_ENUM)
                assert_int_equal(f->profiles & ~acp_types[f->type].profiles, 0);
            /* One name, one row in each version. */
            for (unsigned k = 0; k < n; k++)
                assert_false(f[-1 - (int) k].name == f->name &&
                             (f[-1 - (int) k].profiles & f->profiles));
        }
        if (type->form == ACP_FORM_UNION || type->form == ACP_FORM_CHOICE) {
            const struct acp_variant *v = &acp_variants[type->first_variant];
            for (unsigned n = 0; n < type->variant_count; n++, v++) {
                assert_true(v->value.offset + acp_storage_size(&v->value) <= type->size);
                assert_int_equal(v->value.profiles & ~type->profiles, 0);
                assert_ptr_equal(acp_variant_by_id(type, v->id, v->value.profiles), v);
            }
        }
        if (type->form == ACP_FORM_ENUM) {
            const struct acp_enumerator *e = &acp_enumerators[type->first_variant];
            for (unsigned n = 0; n < type->variant_count; n++, e++) {
                assert_ptr_equal(acp_enumerator_by_id(type, e->id, e->profiles), e);
                assert_ptr_equal(acp_enumerator_by_text(type, acp_text_at(e->name), e->profiles),
                                 e);
            }
            assert_null(acp_enumerator_by_id(type, 0, type->profiles));
            assert_null(acp_enumerator_by_id(type, INT16_MAX, type->profiles));
        }
    }
}

/* Only _meta begins otherwise than with a small letter; a dash stands in one format's name. */
static bool is_spelt(struct acp_str name, bool camel)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        bool upper = c >= 'A' && c <= 'Z';
        if (!letter && !(camel ? upper && i > 0 : c == '_' || c == '-'))
            return false;
    }
    return name.len > 0;
}

static void com_rpc_23_keys_are_camel_case_and_values_snake_case(void **state)
{
    (void) state;
    for (int t = 1; t < acp_type_count; t++) {
        if (!acp_type_exists(t))
            continue;
        const struct acp_type *type = &acp_types[t];
        for (unsigned n = 0; n < type->field_count; n++) {
            struct acp_str key = acp_text_at(acp_fields[type->first_field + n].name);
            assert_true(acp_str_is(key, "_meta") || is_spelt(key, true));
        }
        for (unsigned n = 0; n < type->variant_count; n++) {
            unsigned at = type->first_variant + n;
            if (type->form == ACP_FORM_ENUM)
                assert_true(is_spelt(acp_text_at(acp_enumerators[at].name), false));
            else if (type->form == ACP_FORM_UNION && acp_variants[at].id > 0)
                assert_true(is_spelt(acp_text_at(acp_variants[at].value.name), false));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_that_everybody_knows),
        cmocka_unit_test(every_method_is_found_by_name),
        cmocka_unit_test(names_that_are_no_method_are_not_found),
        cmocka_unit_test(gates_are_those_of_the_version),
        cmocka_unit_test(types_differ_between_versions_where_names_do_not),
        cmocka_unit_test(tables_are_sound),
        cmocka_unit_test(com_rpc_23_keys_are_camel_case_and_values_snake_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
