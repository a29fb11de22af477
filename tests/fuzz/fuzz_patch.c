/*
 * Fuzzes the reader of patches.  The input is an old text, a NUL, and more: as a patch it must do
 * no harm to the old text, and as a new text the patch that we make ourselves must lead to it.
 */
#include <stdlib.h>

#include "base/diff.h"
#include "fuzz.h"
#include "text/patch.h"

enum { MOST = 5000 };

static void apply_anything(struct acp_str old_text, struct acp_str text)
{
    struct acp_arena arena;
    struct acp_buf out;
    struct acp_failure failure = {0};
    struct patch *patch = malloc(sizeof(*patch));
    CHECK(patch);
    acp_arena_init(&arena, 0);
    acp_buf_init(&out, (size_t) 1 << 20);
    int err = patch_parse(text, &arena, patch, &failure);
    CHECK(!err || failure.message[0]);
    for (size_t i = 0; !err && i < patch->count; i++) {
        const struct patch_file *file = &patch->files[i];
        CHECK(file->old_path.len || file->new_path.len);
        acp_buf_clear(&out);
        int applied = patch_apply(file, old_text, &out, &failure);
        CHECK(!applied || out.len == 0);
    }
    acp_buf_finish(&out);
    acp_arena_finish(&arena);
    free(patch);
}

/* Returns in front of a line's end are taken for the file's own, so they do not come out again. */
static bool has_returns(struct acp_str text)
{
    return text.len && memchr(text.ptr, '\r', text.len);
}

static void apply_ours(struct acp_str old_text, struct acp_str new_text)
{
    struct acp_diff_patch_options options = {.old_path = acp_str_from("f"),
                                             .new_path = acp_str_from("f")};
    struct acp_arena arena;
    struct acp_buf text;
    struct acp_buf made;
    struct patch *patch = malloc(sizeof(*patch));
    CHECK(patch);
    acp_arena_init(&arena, 0);
    acp_buf_init(&text, (size_t) 1 << 20);
    acp_buf_init(&made, (size_t) 1 << 20);
    CHECK(acp_diff_patch(&options, old_text, new_text, &text) == 0);
    if (text.len) {
        CHECK(patch_parse(acp_buf_view(&text), &arena, patch, NULL) == 0);
        CHECK(patch->count == 1);
        CHECK(patch_apply(&patch->files[0], old_text, &made, NULL) == 0);
        CHECK(acp_str_eq(acp_buf_view(&made), new_text));
    }
    acp_buf_finish(&text);
    acp_buf_finish(&made);
    acp_arena_finish(&arena);
    free(patch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size ? memchr(data, '\0', size) : NULL;
    if (!nul || size > MOST)
        return 0;
    size_t n = (size_t) (nul - data);
    size_t m = size - n - 1;
    char *old_copy = malloc(n + 1);
    char *new_copy = malloc(m + 1);
    CHECK(old_copy && new_copy);
    memcpy(old_copy, data, n);
    if (m)
        memcpy(new_copy, nul + 1, m);
    struct acp_str old_text = acp_str_n(old_copy, n);
    struct acp_str new_text = acp_str_n(new_copy, m);
    apply_anything(old_text, new_text);
    if (!has_returns(old_text) && !has_returns(new_text))
        apply_ours(old_text, new_text);
    free(old_copy);
    free(new_copy);
    return 0;
}
