/*
 * bench_markdown.c - Markdown as it streams, by ours and by md4c.
 *
 *     bench_markdown
 *
 * An answer of 10 MB, in chunks as models send them and in one piece.  md4c is a parser for whole
 * texts: in one piece it only parses, which is less than what ours does; as chunks come, it has to
 * parse all that has come so far to know what to show, which is measured with a text that is so
 * short that it ends.  The last rows are how ours grows with the text, and what a hostile text can
 * make of it.
 *
 * Fails if ours is slower than 200,000 chunks a second, or not linear.
 */
#include <md4c.h>
#include <stdlib.h>
#include <string.h>

#include "acp/base.h"
#include "bench.h"
#include "markdown/markdown.h"

enum {
    ROUNDS = 3, /* of bench_compare() there are hundreds, for shorter jobs */
    WHOLE = 10 * 1000 * 1000,
    SHORT = 20 * 1000,
    CHUNK = 5, /* bytes: about a token */
    CHUNKS_PER_SECOND = 200 * 1000,
};

/* ---- Texts ----------------------------------------------------------------------------------- */

static const char answer[] =
    "## What I found\n\n"
    "The parser in `src/parse.c` keeps a *pointer* into the buffer **after** it may have moved; "
    "see [the manual](https://example.com/manual#buffers) and https://example.com/issue?id=12.\n\n"
    "1. `parse_line()` calls `buffer_append()`, which may reallocate.\n"
    "2. It then reads through the old pointer:\n\n"
    "   ```c\n"
    "   const char *line = buffer->data + start; /* stale */\n"
    "   for (size_t i = 0; i < n; i++)\n"
    "       total += strtoul(line + i, NULL, 10);\n"
    "   ```\n\n"
    "- [x] reproduced with the sanitizer\n"
    "- [ ] fixed\n\n"
    "| File | Lines | What |\n|:--|--:|:--|\n"
    "| src/parse.c | 12 | reads *after* the append |\n| src/buffer.c | 3 | says so |\n\n"
    "> A pointer into a buffer is valid until the next append.\n\n";

static const char hostile[] = "*a _b [c `d **e ";

static void fill(struct acp_buf *out, const char *with, size_t size)
{
    acp_buf_init(out, size + 4096);
    while (out->len < size)
        (void) acp_buf_append_str(out, acp_str_from(with));
    (void) acp_buf_reserve(out, 1);
}

/* ---- Sides ----------------------------------------------------------------------------------- */

static void on_text(struct acp_str text, struct markdown_style style, struct acp_str link,
                    void *user)
{
    size_t *shown = user;
    (void) style;
    (void) link;
    *shown += text.len;
}

static void on_line_end(void *user)
{
    size_t *shown = user;
    ++*shown;
}

struct job {
    struct acp_buf text;
    size_t chunk;
};

/* One operation is a chunk. */
static size_t ours(void *user)
{
    static const struct markdown_sink sink = {.text = on_text, .line_end = on_line_end};
    struct job *job = user;
    size_t shown = 0;
    struct markdown_options options = {
        .width = 80, .hyperlinks = true, .sink = &sink, .user = &shown};
    struct markdown *markdown;
    struct acp_str text = acp_buf_view(&job->text);
    if (markdown_new(&options, &markdown))
        return 0;
    for (size_t at = 0; at < text.len; at += job->chunk)
        markdown_add(markdown, acp_str_n(text.ptr + at,
                                         job->chunk < text.len - at ? job->chunk : text.len - at));
    (void) markdown_end(markdown);
    markdown_free(markdown);
    bench_use(&shown);
    return (text.len + job->chunk - 1) / job->chunk;
}

static int on_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    (void) type;
    (void) detail;
    (void) user;
    return 0;
}

static int on_span(MD_SPANTYPE type, void *detail, void *user)
{
    (void) type;
    (void) detail;
    (void) user;
    return 0;
}

static int on_md4c_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *user)
{
    size_t *shown = user;
    (void) type;
    (void) text;
    *shown += size;
    return 0;
}

static size_t by_md4c(void *user)
{
    static const MD_PARSER parser = {.flags = MD_DIALECT_GITHUB,
                                     .enter_block = on_block,
                                     .leave_block = on_block,
                                     .enter_span = on_span,
                                     .leave_span = on_span,
                                     .text = on_md4c_text};
    struct job *job = user;
    size_t shown = 0;
    size_t chunks = 0;
    struct acp_str text = acp_buf_view(&job->text);
    for (size_t at = 0; at < text.len; chunks++) {
        at += job->chunk < text.len - at ? job->chunk : text.len - at;
        /* The one of Debian 12 reads on where a text ends in the target of a link. */
        char behind = job->text.data[at];
        job->text.data[at] = '\n';
        (void) md_parse(text.ptr, (MD_SIZE) at + 1, &parser, &shown);
        job->text.data[at] = behind;
    }
    bench_use(&shown);
    return chunks;
}

static void compare_sides(struct bench_side *sides, size_t count)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            uint64_t begin = bench_now();
            size_t operations = sides[i].run(sides[i].user);
            double ns = (double) (bench_now() - begin) / (double) operations;
            if (round == 0 || ns < sides[i].ns)
                sides[i].ns = ns;
        }
    }
}

/* ---- The comparison -------------------------------------------------------------------------- */

static double compare(const char *what, size_t size, size_t chunk)
{
    struct job job = {.chunk = chunk ? chunk : size * 2};
    fill(&job.text, answer, size);
    struct bench_side sides[] = {{.name = "ours", .run = ours, .user = &job},
                                 {.name = "md4c", .run = by_md4c, .user = &job}};
    compare_sides(sides, 2);
    bench_row(what, &sides[0], &sides[1], 0);
    acp_buf_finish(&job.text);
    return sides[0].ns;
}

/* Nanoseconds for a byte. */
static double alone(const char *what, const char *with, size_t size)
{
    struct job job = {.chunk = CHUNK};
    fill(&job.text, with, size);
    struct bench_side side = {.name = "ours", .run = ours, .user = &job};
    compare_sides(&side, 1);
    printf("%-40s %8.0f chunks a second, %.1f MB/s\n", what, 1e9 / side.ns, CHUNK * 1e3 / side.ns);
    acp_buf_finish(&job.text);
    return side.ns;
}

int main(void)
{
    int failed = 0;
    (void) compare("10 MB in one piece", WHOLE, 0);
    (void) compare("20 KB in chunks of 5 bytes", SHORT, CHUNK);
    double tenth = alone("1 MB in chunks of 5 bytes", answer, WHOLE / 10);
    double whole = alone("10 MB in chunks of 5 bytes", answer, WHOLE);
    double worst = alone("1 MB that is never closed", hostile, WHOLE / 10);
    if (1e9 / whole < CHUNKS_PER_SECOND || 1e9 / worst < CHUNKS_PER_SECOND)
        failed = 1, printf("FAILED: less than %d chunks a second\n", CHUNKS_PER_SECOND);
    if (whole > 2 * tenth)
        failed = 1, printf("FAILED: 10 MB take more than twice the time for a byte of 1 MB\n");
    return failed;
}
