/*
 * Schemas when out of memory: the first, the second, the third ... allocation fails, until none
 * does.  What cannot be made says so, and nothing is left behind.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "schema/schema.h"
#include "test_memory.h"

static const char schema_text[] =
    "{\"$id\":\"http://example.test/a\",\"$defs\":{\"n\":{\"$id\":\"../n\",\"$anchor\":\"it\","
    "\"type\":\"integer\"}},\"properties\":{\"a\":{\"$ref\":\"n#it\"},\"b\":{\"enum\":[1,2]},"
    "\"c\":{\"pattern\":\"^[a-z]+(x|y){2}\"},\"d\":{\"uniqueItems\":true}},"
    "\"patternProperties\":{\"^x\":{\"type\":\"null\"}},\"dependencies\":{\"a\":[\"b\"]},"
    "\"anyOf\":[{\"properties\":{\"e\":true}},{\"required\":[\"f\"]}],"
    "\"unevaluatedProperties\":false}";

static void compiling(void **state)
{
    (void) state;
    for (long n = 1; n == 1 || test_struck; n++) {
        struct schema *schema = NULL;
        struct acp_failure failure = {0};
        test_struck = false;
        test_countdown = n;
        int err = schema_compile(acp_raw_from(schema_text), &schema, &failure);
        test_countdown = 0;
        if (test_struck) {
            assert_int_equal(err, ACP_ERR_NOMEM);
            assert_int_equal(failure.err, ACP_ERR_NOMEM);
            assert_null(schema);
        } else {
            assert_int_equal(err, 0);
        }
        schema_free(schema);
    }
}

static void count_reports(struct acp_str path, struct acp_str message, void *user)
{
    (void) path;
    (void) message;
    ++*(int *) user;
}

/* Memory for the sentences may lack, but then the verdict still stands. */
static void checking(void **state)
{
    (void) state;
    static const char good[] = "{\"a\":1,\"b\":2.0,\"c\":\"abxy\",\"d\":[1,2,3],\"xx\":null}";
    static const char bad[] = "{\"a\":\"x\",\"b\":3,\"c\":\"\",\"d\":[1,1],\"q\":1}";
    struct schema *schema = NULL;
    assert_int_equal(schema_compile(acp_raw_from(schema_text), &schema, NULL), 0);
    for (long n = 1; n == 1 || test_struck; n++) {
        int reports = 0;
        test_struck = false;
        test_countdown = n;
        int result = schema_check(schema, acp_raw_from(good), count_reports, &reports);
        test_countdown = 0;
        assert_true(result == 0 || (test_struck && result == ACP_ERR_NOMEM));
        assert_int_equal(reports, 0);
    }
    for (long n = 1; n == 1 || test_struck; n++) {
        int reports = 0;
        test_struck = false;
        test_countdown = n;
        int result = schema_check(schema, acp_raw_from(bad), count_reports, &reports);
        test_countdown = 0;
        assert_true(result == 4 || (test_struck && result == ACP_ERR_NOMEM));
        assert_true(result < 0 || reports == 4);
    }
    schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiling),
        cmocka_unit_test(checking),
    };
    return cmocka_run_group_tests_name("schema_nomem", tests, NULL, NULL);
}
