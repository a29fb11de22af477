/*
 * Fuzzes what is read about models: the table, and the lists and limits that providers send.  All
 * facts that were read are in their ranges, and a list never has more rows than allowed.
 */
#include "fuzz.h"
#include "model/facts.h"
#include "model/listing.h"

static void check_facts(const struct model_facts *facts)
{
    const uint64_t most = UINT64_C(1000000000);
    CHECK(facts->context <= most && facts->output <= most && !(facts->can & facts->cannot));
    CHECK(!facts->has_price || (facts->price.input >= 0 && facts->price.output >= 0 &&
                                facts->price.cache_read >= 0 && facts->price.cache_write >= 0));
}

static void read_list(struct acp_raw text, const char *path, struct acp_arena *arena)
{
    struct listing_row *rows = NULL;
    int count = listing_read(text, path, arena, &rows);
    CHECK(count <= LISTING_MAX_ROWS);
    if (count > 0)
        listing_add_limits(text, arena, rows, (size_t) count);
    for (int i = 0; i < count; i++) {
        CHECK(rows[i].id.len);
        check_facts(&rows[i].facts);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_raw text = acp_raw_n((const char *) data, size);
    struct model_table table = {0};
    struct acp_failure failure;
    struct acp_arena arena;
    acp_arena_init(&arena, (size_t) 16 * 1024 * 1024);
    if (facts_read_table(text, &arena, &table, &failure) == 0) {
        struct model_facts found;
        for (size_t i = 0; i < table.count; i++) {
            check_facts(&table.rows[i].facts);
            CHECK(facts_find(&table, NULL, acp_str_from(table.rows[i].name), &found));
        }
    }
    if (acp_json_validate(text, 0, NULL) == 0) {
        read_list(text, "data", &arena);
        read_list(text, "models", &arena);
    }
    acp_arena_finish(&arena);
    return 0;
}
