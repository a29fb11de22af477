/* proxy_log.c - see proxy_log.h. */
#include "cmd/proxy_log.h"

#include <time.h>

#include "cli/output.h"
#include "config/redact.h"
#include "json/members.h"

enum { LINE = 16 * 1024 }; /* what is written of one entry */

static const char *const levels[] = {"debug", "info", "warning", "error"};

/* Word by word, because an agent may write its command line or a URL. */
static int write_redacted(struct acp_str text, struct acp_buf *out)
{
    char before[128] = "";
    int err = 0;
    size_t at = 0;
    while (!err && at < text.len) {
        size_t n = 0;
        while (at + n < text.len && !strchr(" \t\n", text.ptr[at + n] ? text.ptr[at + n] : 'x'))
            n++;
        if (n) {
            struct acp_str word = acp_str_n(text.ptr + at, n);
            err = redact_argument(*before ? before : NULL, word, out);
            size_t kept = n < sizeof(before) - 1 ? n : sizeof(before) - 1;
            memcpy(before, word.ptr, kept);
            before[kept] = '\0';
        }
        at += n;
        if (!err && at < text.len)
            err = acp_buf_append(out, text.ptr + at++, 1);
    }
    return err;
}

static void write_time(char ret[32])
{
    struct timespec now;
    struct tm parts;
    (void) clock_gettime(CLOCK_REALTIME, &now);
    if (!gmtime_r(&now.tv_sec, &parts) || !strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &parts))
        ret[0] = '\0';
}

static void write_json(const struct proxy_log *log, const struct hub_log_entry *entry,
                       struct acp_str text)
{
    struct acp_buf line;
    struct acp_json_writer w;
    char now[32];
    write_time(now);
    acp_buf_init(&line, 16 * LINE);
    acp_json_writer_init(&w, &line);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "time", now);
    acp_json_put_text(&w, "level", levels[entry->level]);
    acp_json_put_text(&w, "agent", log->agent);
    if (entry->workspace.len)
        acp_json_put_str(&w, "workspace", entry->workspace);
    if (entry->session.len)
        acp_json_put_str(&w, "session", entry->session);
    acp_json_put_text(&w, "source", entry->agent_stderr ? "agent" : "acp");
    acp_json_put_str(&w, "message", text);
    acp_json_end_object(&w);
    struct output *out = output_messages();
    if (!w.err)
        output_json(out, acp_buf_view(&line));
    output_text(out, acp_str_from("\n"));
    (void) output_flush(out);
    acp_buf_finish(&line);
}

static void write_text(const struct proxy_log *log, const struct hub_log_entry *entry,
                       struct acp_str text)
{
    if (entry->agent_stderr)
        err_row("%s: %.*s", log->agent, ACP_ARG(text));
    else
        err_row("acp proxy: %s: %.*s%s%.*s%s%s%.*s%s", levels[entry->level], ACP_ARG(text),
                entry->workspace.len ? " (" : "", ACP_ARG(entry->workspace),
                entry->workspace.len ? ")" : "", entry->session.len ? " [" : "",
                ACP_ARG(entry->session), entry->session.len ? "]" : "");
}

void proxy_log_write(const struct proxy_log *log, const struct hub_log_entry *entry)
{
    struct acp_buf text;
    struct acp_str line = entry->text;
    if (entry->level < log->level)
        return;
    if (line.len > LINE)
        line.len = LINE;
    acp_buf_init(&text, 4 * LINE);
    /* Of a line that cannot be checked nothing is shown. */
    if (write_redacted(line, &text))
        acp_buf_clear(&text);
    if (log->json)
        write_json(log, entry, acp_buf_view(&text));
    else
        write_text(log, entry, acp_buf_view(&text));
    acp_buf_finish(&text);
}
