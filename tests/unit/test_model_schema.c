/* Schemas of tools as services take them, and requests that are changed after a refusal. */
#include "helpers.h"
#include "model/pick.h"
#include "model/repair.h"
#include "model/schema_fold.h"

/* With ' for ", as the tables are written. */
static char *quoted(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *p = copy; *p; p++)
        *p = (char) (*p == '\'' ? '"' : *p);
    return copy;
}

static void check(enum schema_taker taker, const char *schema, const char *expected, size_t row)
{
    char *in = quoted(schema);
    char *out = quoted(expected);
    struct acp_buf text;
    struct acp_json_writer w;
    acp_buf_init(&text, 1 << 20);
    acp_json_writer_init(&w, &text);
    schema_write(acp_raw_from(in), taker, &w);
    assert_int_equal(w.err, 0);
    CHECK_ROW(strcmp(test_cstr(&text), out) == 0, row, "%s\n%s", test_cstr(&text), out);
    acp_buf_finish(&text);
    free(in);
    free(out);
}

/* What no service takes at the root. */
static void test_root(void **state)
{
    (void) state;
    static const struct {
        const char *schema;
        const char *folded;
    } rows[] = {
        {"{}", "{'type':'object','properties':{}}"},
        {"", "{'type':'object','properties':{}}"},
        {"true", "{'type':'object','properties':{}}"},
        {"{'type':", "{'type':'object','properties':{}}"},
        {" {'type':'object','properties':{'a':{'type':'string'}},'required':['a'],"
         "'additionalProperties':false}",
         "{'type':'object','properties':{'a':{'type':'string'}},'required':['a'],"
         "'additionalProperties':false}"},
        /* At least one of two: neither is required any more. */
        {"{'type':'object','properties':{'a':{},'b':{}},'required':['a'],"
         "'anyOf':[{'required':['a']},{'required':['b']}]}",
         "{'type':'object','properties':{'a':{},'b':{}},'required':['a']}"},
        /* What all branches require stays required; a discriminator may be as any of them says. */
        {"{'oneOf':[{'properties':{'k':{'const':'x'},'x':{}},'required':['k','x']},"
         "{'properties':{'k':{'const':'y'},'y':{}},'required':['k']}],'description':'d'}",
         "{'type':'object','properties':{'k':{'anyOf':[{'const':'x'},{'const':'y'}]},'x':{},"
         "'y':{}},'required':['k'],'description':'d'}"},
        {"{'allOf':[{'properties':{'a':{}},'required':['a']},{'$ref':'#/$defs/b'}],"
         "'$defs':{'b':{'properties':{'b':{}},'required':['b']}}}",
         "{'type':'object','properties':{'a':{},'b':{}},'required':['a','b'],"
         "'$defs':{'b':{'properties':{'b':{}},'required':['b']}}}"},
        {"{'$ref':'#/definitions/r','definitions':{'r':{'type':'object','properties':{'a':{}}}}}",
         "{'type':'object','properties':{'a':{}},"
         "'definitions':{'r':{'type':'object','properties':{'a':{}}}}}"},
        /* A reference that leads to itself. */
        {"{'$ref':'#/$defs/r','$defs':{'r':{'$ref':'#/$defs/r'}}}",
         "{'type':'object','properties':{},'$defs':{'r':{'$ref':'#/$defs/r'}}}"},
        {"{'type':'string','enum':['a'],'not':{},'if':{},'$schema':'x','$id':'y','title':'t'}",
         "{'type':'object','properties':{},'title':'t'}"},
        /* What is required but not described. */
        {"{'properties':{'a':{}},'required':['a','b',7]}",
         "{'type':'object','properties':{'a':{}},'required':['a']}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check(SCHEMA_OPENAI, rows[i].schema, rows[i].folded, i);
        check(SCHEMA_ANTHROPIC, rows[i].schema, rows[i].folded, i);
    }
    check(SCHEMA_ANTHROPIC, "{'properties':{'a b':{},'c.d-e_1':{}},'required':['a b']}",
          "{'type':'object','properties':{'c.d-e_1':{}}}", 100);
    check(SCHEMA_OPENAI, "{'properties':{'a b':{}},'required':['a b']}",
          "{'type':'object','properties':{'a b':{}},'required':['a b']}", 101);
}

static void test_gemini(void **state)
{
    (void) state;
    static const struct {
        const char *schema;
        const char *folded; /* of the property */
    } rows[] = {
        {"{'type':'string','pattern':'x','minLength':1,'default':'a','examples':[1],"
         "'description':'d','format':'uri'}",
         "{'type':'string','description':'d'}"},
        {"{'type':'string','format':'date-time'}", "{'type':'string','format':'date-time'}"},
        {"{'const':'x'}", "{'enum':['x']}"},
        {"{'enum':['a',1,-2]}", "{'enum':['a',1,-2]}"},
        {"{'enum':['a',null]}", "{}"},
        {"{'type':'integer','minimum':1,'exclusiveMaximum':5}", "{'type':'integer','minimum':1}"},
        {"{'type':'array','items':{'type':'string','pattern':'x'},'uniqueItems':true}",
         "{'type':'array','items':{'type':'string'}}"},
        {"{'$ref':'#/definitions/b','description':'d'}", "{'$ref':'#/$defs/b'}"},
        {"{'allOf':[{'type':'string','title':'t'}],'title':'u'}", "{'title':'u','type':'string'}"},
        {"{'anyOf':[{'type':'string','x-y':1},true]}", "{'anyOf':[{'type':'string'},{}]}"},
        {"{'type':'object','additionalProperties':{'type':'string','pattern':'x'}}",
         "{'type':'object','additionalProperties':{'type':'string'}}"},
        {"{'type':'object','additionalProperties':false}",
         "{'type':'object','additionalProperties':false}"},
        {"{'type':['string','null']}", "{'type':['string','null']}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char schema[600];
        char folded[600];
        (void) snprintf(schema, sizeof(schema), "{'properties':{'p':%s},'$schema':'x'}",
                        rows[i].schema);
        (void) snprintf(folded, sizeof(folded), "{'type':'object','properties':{'p':%s}}",
                        rows[i].folded);
        check(SCHEMA_GEMINI, schema, folded, i);
    }
    check(SCHEMA_GEMINI, "{'definitions':{'b':{'type':'string','pattern':'x'}},'properties':{}}",
          "{'type':'object','properties':{},'$defs':{'b':{'type':'string'}}}", 100);
}

/* Schemas that are made to be expensive. */
static void test_bounds(void **state)
{
    (void) state;
    struct acp_buf in;
    struct acp_buf out;
    struct acp_json_writer w;
    acp_buf_init(&in, 1 << 20);
    acp_buf_init(&out, 1 << 20);
    assert_int_equal(acp_buf_append_str(&in, acp_str_from("{\"properties\":{")), 0);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(acp_buf_printf(&in, "%s\"p%d\":{}", i ? "," : "", i), 0);
    assert_int_equal(acp_buf_append_str(&in, acp_str_from("}}")), 0);
    acp_json_writer_init(&w, &out);
    schema_write(acp_raw_from(test_cstr(&in)), SCHEMA_OPENAI, &w);
    assert_non_null(strstr(test_cstr(&out), "\"p511\""));
    assert_null(strstr(test_cstr(&out), "\"p512\""));
    /* Deep, but still JSON. */
    acp_buf_clear(&in);
    acp_buf_clear(&out);
    for (int i = 0; i < 50; i++)
        assert_int_equal(acp_buf_append_str(&in, acp_str_from("{\"properties\":{\"a\":")), 0);
    assert_int_equal(acp_buf_append_str(&in, acp_str_from("{}")), 0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(acp_buf_append_str(&in, acp_str_from("}}")), 0);
    acp_json_writer_init(&w, &out);
    schema_write(acp_raw_from(test_cstr(&in)), SCHEMA_GEMINI, &w);
    assert_int_equal(
        acp_json_validate(acp_raw_from(test_cstr(&out)), 2 * SCHEMA_MAX_DEPTH + 4, NULL), 0);
    /* Large. */
    acp_buf_clear(&in);
    acp_buf_clear(&out);
    assert_int_equal(acp_buf_printf(&in, "{\"title\":\"%*s\"}", SCHEMA_MAX_BYTES, "x"), 0);
    acp_json_writer_init(&w, &out);
    schema_write(acp_raw_from(test_cstr(&in)), SCHEMA_OPENAI, &w);
    assert_string_equal(test_cstr(&out), "{\"type\":\"object\",\"properties\":{}}");
    acp_buf_finish(&in);
    acp_buf_finish(&out);
}

/* ---- Requests after a refusal ---------------------------------------------------------------- */

static void test_repairs(void **state)
{
    (void) state;
    static const struct {
        enum model_api api;
        const char *words;
        const char *request;
        const char *changed; /* NULL: nothing can be done */
    } rows[] = {
        {MODEL_ANTHROPIC,
         "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the "
         "latest assistant message cannot be modified",
         "{'model':'m','messages':[{'role':'user','content':[{'type':'text','text':'a'}]},"
         "{'role':'assistant','content':[{'type':'thinking','thinking':'t','signature':'s'},"
         "{'type':'redacted_thinking','data':'d'},{'type':'text','text':'b'}]},"
         "{'role':'assistant','content':[{'type':'thinking','thinking':'t','signature':'s'}]}]}",
         "{'model':'m','messages':[{'role':'user','content':[{'type':'text','text':'a'}]},"
         "{'role':'assistant','content':[{'type':'text','text':'b'}]}]}"},
        {MODEL_ANTHROPIC,
         "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, "
         "but found `tool_use`",
         "{'thinking':{'type':'enabled','budget_tokens':1024},'messages':[]}", "{'messages':[]}"},
        {MODEL_ANTHROPIC,
         "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens",
         "{'max_tokens':128000,'messages':[]}", "{'max_tokens':64000,'messages':[]}"},
        {MODEL_ANTHROPIC, "tools.0.custom.input_schema: no", "{'tools':[{'name':'a'}]}", "{}"},
        {MODEL_ANTHROPIC, "tools.9.custom.input_schema: no", "{'tools':[{'name':'a'}]}", NULL},
        {MODEL_RESPONSES, "The encrypted content gAAA could not be verified.",
         "{'input':[{'type':'reasoning','id':'r'},{'type':'message','role':'user'}]}",
         "{'input':[{'type':'message','role':'user'}]}"},
        {MODEL_RESPONSES, "Your organization must be verified to generate reasoning summaries.",
         "{'reasoning':{'effort':'low','summary':'auto'}}", "{'reasoning':{'effort':'low'}}"},
        {MODEL_CHAT, "Unrecognized request argument supplied: reasoning_effort",
         "{'model':'m','reasoning_effort':'low'}", "{'model':'m'}"},
        {MODEL_CHAT, "reasoning_content is not allowed here",
         "{'messages':[{'role':'assistant','content':'a','reasoning_content':'t'}]}",
         "{'messages':[{'role':'assistant','content':'a'}]}"},
        {MODEL_CHAT, "The reasoning_content in the thinking mode must be passed back to the API.",
         "{'messages':[{'role':'assistant','content':'a','reasoning_content':'t'}]}", NULL},
        {MODEL_CHAT, "Invalid schema for function 'b': In context=(), no",
         "{'tools':[{'type':'function','function':{'name':'a'}},"
         "{'type':'function','function':{'name':'b'}}]}",
         "{'tools':[{'type':'function','function':{'name':'a'}}]}"},
        {MODEL_GEMINI, "Corrupted thought signature.",
         "{'contents':[{'role':'model','parts':[{'text':'x','thoughtSignature':'s'},"
         "{'functionCall':{'name':'a'},'thoughtSignature':'s'},{'functionCall':{'name':'b'}}]}]}",
         "{'contents':[{'role':'model','parts':[{'text':'x'},{'functionCall':{'name':'a'},"
         "'thoughtSignature':'skip_thought_signature_validator'},"
         "{'functionCall':{'name':'b'}}]}]}"},
        {MODEL_GEMINI, "* GenerateContentRequest.tools[0].function_declarations[0].name: no",
         "{'tools':[{'functionDeclarations':[{'name':'a'},{'name':'b'}]}]}",
         "{'tools':[{'functionDeclarations':[{'name':'b'}]}]}"},
        {MODEL_CHAT, "the price of tea", "{'temperature':1}", NULL},
        {MODEL_CHAT, "temperature is not supported", "{'model':'m'}", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *request = quoted(rows[i].request);
        char *changed = quoted(rows[i].changed ? rows[i].changed : "");
        struct acp_buf out;
        acp_buf_init(&out, 1 << 20);
        struct repair repair =
            repair_find(rows[i].api, acp_raw_from(request), acp_str_from(rows[i].words));
        CHECK_ROW((repair.kind != REPAIR_NONE) == (rows[i].changed != NULL), i, "%d", repair.kind);
        if (rows[i].changed) {
            assert_int_equal(repair_apply(rows[i].api, acp_raw_from(request), &repair, &out), 0);
            CHECK_ROW(strcmp(test_cstr(&out), changed) == 0, i, "%s", test_cstr(&out));
        }
        acp_buf_finish(&out);
        free(request);
        free(changed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_root),
        cmocka_unit_test(test_gemini),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_repairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
