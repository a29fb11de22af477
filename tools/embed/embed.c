/*
 * acp-embed INPUT OUTPUT NAME - writes a text file as C: `const char NAME[]`, with a NUL behind it,
 * and `const size_t NAME_size` without that NUL.
 */
#include <stdio.h>
#include <string.h>

static int fail(const char *what, const char *path)
{
    (void) fprintf(stderr, "acp-embed: cannot %s %s\n", what, path);
    return 1;
}

static void write_bytes(FILE *in, FILE *out, const char *name)
{
    enum { PER_LINE = 20 };
    size_t size = 0;
    int c;
    (void) fprintf(out, "#include <stddef.h>\n\n");
    (void) fprintf(out, "extern const char %s[];\nextern const size_t %s_size;\n\n", name, name);
    (void) fprintf(out, "const char %s[] = {", name);
    while ((c = getc(in)) != EOF)
        (void) fprintf(out, "%s%d,", size++ % PER_LINE ? "" : "\n    ", c > 127 ? c - 256 : c);
    (void) fprintf(out, "\n    0};\nconst size_t %s_size = %zu;\n", name, size);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        (void) fprintf(stderr, "usage: acp-embed INPUT OUTPUT NAME\n");
        return 2;
    }
    FILE *in = fopen(argv[1], "rb");
    if (!in)
        return fail("read", argv[1]);
    FILE *out = fopen(argv[2], "wb");
    if (!out) {
        (void) fclose(in);
        return fail("write", argv[2]);
    }
    write_bytes(in, out, argv[3]);
    int bad = ferror(in) || ferror(out);
    (void) fclose(in);
    return fclose(out) || bad ? fail("write", argv[2]) : 0;
}
