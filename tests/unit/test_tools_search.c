/* list, glob and grep, over the disk of the workspace. */
#define _GNU_SOURCE
#include "test_tools_host.h"

static void make_project(void)
{
    test_write(".gitignore", "*.o\nnode_modules/\n", 0644);
    test_write("README.md", "# Title\nfind Me here\n", 0644);
    test_write("src/main.c", "int main(void)\n{\n    return compute();\n}\n", 0644);
    test_write("src/util.h", "int compute(void);\n", 0644);
    test_write("src/util.o", "compute\n", 0644);
    test_write("node_modules/x/index.js", "compute\n", 0644);
    test_write("web/app.tsx", "compute()\n", 0644);
}

static void a_folder_is_listed(void **state)
{
    struct world *w = *state;
    make_project();
    assert_run(w, "list", "{}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), ".gitignore\nREADME.md\nsrc/\nweb/\n"
                                       "[1 entries that .gitignore lists were left out.]\n");
    assert_run(w, "list", "{'path':'src','all':true}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "main.c\nutil.h\nutil.o\n");
    assert_run(w, "list", "{'depth':2}", TOOL_COMPLETED);
    assert_has(w, "src/main.c\n");
    assert_run(w, "list", "{'path':'gone'}", TOOL_FAILED);
    assert_run(w, "list", "{'path':'/etc'}", TOOL_FAILED);
    assert_has(w, "is outside the workspace");
    test_make_folder("empty");
    assert_run(w, "list", "{'path':'empty'}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "[The folder is empty.]\n");
}

static void files_are_found_by_name(void **state)
{
    struct world *w = *state;
    make_project();
    assert_run(w, "glob", "{'pattern':'**/*.{c,h}'}", TOOL_COMPLETED);
    assert_has(w, "src/main.c\nsrc/util.h\n");
    assert_run(w, "glob", "{'pattern':'*.tsx','path':'web'}", TOOL_COMPLETED);
    assert_has(w, "web/app.tsx\n");
    assert_run(w, "glob", "{'pattern':'*.o'}", TOOL_COMPLETED);
    assert_has(w, "[No file matches.]");
    assert_run(w, "glob", "{'pattern':'{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}'}", TOOL_FAILED);
}

static void lines_are_found(void **state)
{
    struct world *w = *state;
    make_project();
    assert_run(w, "grep", "{'pattern':'comp[u]te\\\\(\\\\)'}", TOOL_COMPLETED);
    assert_has(w, "src/main.c:3:    return compute();\n");
    assert_has(w, "web/app.tsx:1:compute()\n");
    assert_lacks(w, "util.h");
    assert_lacks(w, "node_modules");
    assert_run(w, "grep", "{'pattern':'compute'}", TOOL_COMPLETED);
    assert_has(w, "src/util.h:1:int compute(void);\n");
    assert_lacks(w, "util.o");
    assert_run(w, "grep", "{'pattern':'compute','files':'*.tsx'}", TOOL_COMPLETED);
    assert_lacks(w, "main.c");
    assert_run(w, "grep", "{'pattern':'FIND ME','ignore_case':true}", TOOL_COMPLETED);
    assert_has(w, "README.md:2:find Me here\n");
    assert_run(w, "grep", "{'pattern':'F\\\\w+ M.','ignore_case':true}", TOOL_COMPLETED);
    assert_has(w, "README.md:2:find Me here\n");
    assert_run(w, "grep", "{'pattern':'()','literal':true,'files_only':true}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "src/main.c\nweb/app.tsx\n"
                                       "[2 entries that .gitignore lists were left out.]\n");
    assert_run(w, "grep", "{'pattern':'^int','path':'src/main.c','context':1}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "src/main.c:1:int main(void)\nsrc/main.c-2-{\n");
    test_write("odd", "a\\Wb (x\n", 0644);
    assert_run(w, "grep", "{'pattern':'\\\\wB (X','literal':true,'ignore_case':true}",
               TOOL_COMPLETED);
    assert_has(w, "odd:1:a\\Wb (x\n");
    assert_run(w, "grep", "{'pattern':'nowhere at all'}", TOOL_COMPLETED);
    assert_has(w, "[No line matches.]");
}

static void context_is_told_once(void **state)
{
    struct world *w = *state;
    test_write("f", "1\nx\n3\nx\n5\n6\n7\n8\nx\n", 0644);
    assert_run(w, "grep", "{'pattern':'x','context':1}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "f-1-1\nf:2:x\nf-3-3\nf:4:x\nf-5-5\n--\nf-8-8\nf:9:x\n");
    assert_run(w, "grep", "{'pattern':'x','limit':2}", TOOL_COMPLETED);
    assert_has(w, "f:2:x\nf:4:x\n[There may be more");
}

static void what_is_no_text_is_left_out(void **state)
{
    struct world *w = *state;
    FILE *file = fopen(test_path("binary"), "wb");
    assert_int_equal(fwrite("needle\0", 1, 7, file), 7);
    assert_int_equal(fclose(file), 0);
    test_write("latin", "caf\xe9 needle\n", 0644);
    assert_int_equal(symlink("/etc/passwd", test_path("link")), 0);
    file = fopen(test_path("large"), "wb");
    assert_int_equal(ftruncate(fileno(file), 9 << 20), 0);
    assert_int_equal(fclose(file), 0);
    assert_run(w, "grep", "{'pattern':'needle|root'}", TOOL_COMPLETED);
    assert_has(w, "latin:1:");
    assert_lacks(w, "binary");
    assert_lacks(w, "link");
    assert_has(w, "[1 files are too large to be searched.]");
}

/* Microseconds of the processor that this thread has used: other programs add nothing to them. */
static int64_t thread_time(void)
{
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
    return (int64_t) t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Many files: the loop goes on meanwhile, and the answer stays small. */
static void many_files_do_not_hold_up_the_loop(void **state)
{
    struct world *w = *state;
    enum { MANY = 20000 };
    for (int i = 0; i < MANY; i++) {
        char name[40];
        (void) snprintf(name, sizeof(name), "many/file-%05d", i);
        FILE *file = fopen(test_path(name), "wb");
        if (!file) {
            test_make_folder("many");
            file = fopen(test_path(name), "wb");
        }
        assert_non_null(file);
        assert_int_equal(fputs("some words\n", file) < 0, 0);
        assert_int_equal(fclose(file), 0);
    }
    static const char *const runs[][2] = {{"list", "{'path':'many'}"},
                                          {"glob", "{'pattern':'file-*'}"},
                                          {"grep", "{'pattern':'wor[d]s','limit':2000}"}};
    for (size_t i = 0; i < COUNT(runs); i++) {
        int64_t longest = 0;
        w->count = 0;
        world_begin(w, "x", runs[i][0], runs[i][1]);
        int64_t before = thread_time();
        while (!w->count) {
            world_step(w);
            int64_t now = thread_time();
            longest = now - before > longest ? now - before : longest;
            before = now;
        }
        assert_int_equal(world_end(w), TOOL_COMPLETED);
        assert_has(w, "There may be more");
        print_message("# %s: the loop worked for at most %ld us at a time\n", runs[i][0],
                      (long) longest);
        assert_true(longest < 100000);
    }
}

static void a_search_is_cancelled_at_once(void **state)
{
    struct world *w = *state;
    make_project();
    w->count = 0;
    world_begin(w, "x", "grep", "{'pattern':'compute'}");
    world_begin(w, "y", "list", "{}");
    tools_cancel(w->tools, w->turn);
    assert_int_equal(w->count, 2);
    assert_int_equal(w->results[0].end, TOOL_CANCELLED);
    assert_int_equal(w->results[1].end, TOOL_CANCELLED);
    /* And while the thread is at work. */
    w->count = 0;
    world_begin(w, "z", "grep", "{'pattern':'compute'}");
    (void) uv_run(w->loop, UV_RUN_NOWAIT);
    assert_int_equal(tools_cancel_one(w->tools, acp_str_from("nobody")), ACP_ERR_UNKNOWN);
    if (!w->count)
        assert_int_equal(tools_cancel_one(w->tools, acp_str_from("z")), 0);
    assert_int_equal(w->count, 1);
    world_run_for(w, 30);
    assert_int_equal(w->count, 1);
}

static void a_set_may_be_freed_while_a_thread_works(void **state)
{
    struct world *w = *state;
    make_project();
    w->count = 0;
    world_begin(w, "a", "grep", "{'pattern':'compute'}");
    (void) uv_run(w->loop, UV_RUN_NOWAIT);
    world_begin(w, "b", "grep", "{'pattern':'compute'}");
    size_t before = w->count;
    tools_free(w->tools);
    w->tools = NULL;
    world_run_for(w, 30);
    assert_int_equal(w->count, before);
}

int main(void)
{
    VARIANTS(safe, ACP_POLICY_SAFE);
    const struct CMUnitTest tests[] = {
        EACH_CLIENT(a_folder_is_listed, safe),
        EACH_CLIENT(files_are_found_by_name, safe),
        EACH_CLIENT(lines_are_found, safe),
        WORLD_TEST("context", context_is_told_once, safe[BARE]),
        WORLD_TEST("no text", what_is_no_text_is_left_out, safe[BARE]),
        WORLD_TEST("many files", many_files_do_not_hold_up_the_loop, safe[BARE]),
        EACH_CLIENT(a_search_is_cancelled_at_once, safe),
        EACH_CLIENT(a_set_may_be_freed_while_a_thread_works, safe),
    };
    return cmocka_run_group_tests_name("tools_search", tests, NULL, NULL);
}
