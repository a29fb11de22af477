/*
 * bench_html.c - a web page as text, by ours and by libxml2.
 *
 *     bench_html [FILE...]
 *
 * Without a FILE, a page of 2,000 paragraphs with links, lists and a script is generated.  For
 * libxml2 the page is parsed to a tree and its text nodes are joined, without scripts and styles,
 * which is less than what ours does.  Prints the time of each, the size of the text, and the memory
 * of the tree.
 */
#include <libxml/HTMLparser.h>
#include <libxml/tree.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acp/base.h"
#include "bench.h"
#include "text/html.h"

enum { ROUNDS = 10, MAX_TEXT = 64 * 1024 * 1024 };

static void collect(const xmlNode *node, struct acp_buf *out)
{
    for (; node; node = node->next) {
        const char *name = (const char *) node->name;
        if (node->type == XML_TEXT_NODE && node->content)
            (void) acp_buf_append_str(out, acp_str_from((const char *) node->content));
        else if (node->type == XML_ELEMENT_NODE && strcmp(name, "script") != 0 &&
                 strcmp(name, "style") != 0)
            collect(node->children, out);
    }
}

static size_t used(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static size_t by_libxml2(struct acp_str html, struct acp_buf *out)
{
    size_t before = used();
    htmlDocPtr document =
        htmlReadMemory(html.ptr, (int) html.len, NULL, "UTF-8",
                       HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING |
                           HTML_PARSE_NONET | HTML_PARSE_COMPACT);
    size_t tree = used() - before;
    if (document)
        collect(document->children, out);
    xmlFreeDoc(document);
    return tree;
}

static void measure(const char *name, struct acp_str html)
{
    double ours = 0;
    double theirs = 0;
    size_t our_text = 0;
    size_t their_text = 0;
    size_t tree = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct acp_buf out;
        acp_buf_init(&out, MAX_TEXT);
        uint64_t begin = bench_now();
        (void) html_text(html, &out);
        double ns = (double) (bench_now() - begin);
        ours = round == 0 || ns < ours ? ns : ours;
        our_text = out.len;
        acp_buf_finish(&out);
        acp_buf_init(&out, MAX_TEXT);
        begin = bench_now();
        tree = by_libxml2(html, &out);
        ns = (double) (bench_now() - begin);
        theirs = round == 0 || ns < theirs ? ns : theirs;
        their_text = out.len;
        acp_buf_finish(&out);
    }
    printf(
        "%s, %zu bytes: ours %.2f ms, %zu bytes of text; libxml2 %.2f ms, %zu bytes of text, tree "
        "of %zu bytes; ratio %.1f\n",
        name, html.len, ours / 1e6, our_text, theirs / 1e6, their_text, tree, theirs / ours);
}

static void make_page(struct acp_buf *out)
{
    (void) acp_buf_printf(out, "<!doctype html><title>Page</title><script>var a = '<p>';</script>");
    for (int i = 0; i < 2000; i++)
        (void) acp_buf_printf(out,
                              "<h2 class=\"title\">Section %d</h2><p>Some <b>bold</b> text &amp; a "
                              "<a href=\"/page/%d?x=1&amp;y=2\">link</a> to another page, "
                              "<code>f(%d)</code>.<ul><li>one<li>two</ul>",
                              i, i, i);
}

int main(int argc, char **argv)
{
    struct acp_buf page;
    for (int i = 1; i < argc; i++) {
        static char bytes[65536];
        size_t n;
        FILE *file = fopen(argv[i], "rbe");
        if (!file) {
            perror(argv[i]);
            return 2;
        }
        acp_buf_init(&page, MAX_TEXT);
        while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
            (void) acp_buf_append(&page, bytes, n);
        (void) fclose(file);
        measure(argv[i], acp_buf_view(&page));
        acp_buf_finish(&page);
    }
    if (argc < 2) {
        acp_buf_init(&page, MAX_TEXT);
        make_page(&page);
        measure("made page", acp_buf_view(&page));
        acp_buf_finish(&page);
    }
    xmlCleanupParser();
    return 0;
}
