/* The search: the user's words as a query that cannot be wrong, and what is found. */
#include <errno.h>

#include "acp/io.h"
#include "store/db.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Appends text as a string of FTS5, in which nothing but the quote means anything. */
static int quote(struct acp_buf *out, struct acp_str text, bool prefix)
{
    int err = acp_buf_append(out, "\"", 1);
    for (size_t i = 0; i < text.len && !err; i++) {
        char c = text.ptr[i];
        err = c == '"' ? acp_buf_append(out, "\"\"", 2) : acp_buf_append(out, &c, 1);
    }
    return err ? err : acp_buf_append_str(out, acp_str_from(prefix ? "\"* " : "\" "));
}

/* One word, or the words between quotes, from *at on; moves it behind them. */
static int write_term(struct acp_buf *out, struct acp_str words, size_t *at)
{
    size_t i = *at;
    bool phrase = words.ptr[i] == '"';
    size_t begin = phrase ? ++i : i;
    while (i < words.len && (phrase ? words.ptr[i] != '"' : !is_space(words.ptr[i])))
        i++;
    size_t end = i;
    if (phrase && i < words.len)
        i++;
    bool prefix = false;
    if (phrase && i < words.len && words.ptr[i] == '*') {
        prefix = true;
        i++;
    } else if (!phrase && end > begin + 1 && words.ptr[end - 1] == '*') {
        prefix = true;
        end--;
    }
    *at = i;
    return end == begin ? 0 : quote(out, acp_str_n(words.ptr + begin, end - begin), prefix);
}

/* An error of memory or of size. */
static int write_query(struct acp_str words, struct acp_buf *out)
{
    int err = 0;
    for (size_t at = 0; at < words.len && !err;) {
        if (is_space(words.ptr[at]))
            at++;
        else
            err = write_term(out, words, &at);
    }
    return err;
}

static void bind_query(sqlite3_stmt *statement, const struct store_query *query,
                       struct acp_str match)
{
    store_bind_str(statement, 1, match);
    store_bind_str(statement, 2, acp_str_from(query->mark ? query->mark : ""));
    store_bind_str(statement, 3, acp_str_from(query->end_mark ? query->end_mark : ""));
    store_bind_str(statement, 4, query->session);
    store_bind_str(statement, 5, query->agent);
    store_bind_str(statement, 6, query->scope);
    store_bind_str(statement, 7, query->author);
    (void) sqlite.bind_int64(statement, 8, store_limit(query->limit));
    (void) sqlite.bind_int64(statement, 9, (sqlite3_int64) (query->offset & INT64_MAX));
}

static int each_hit(struct store *store, sqlite3_stmt *statement, store_hit_fn *each, void *user,
                    struct acp_failure *failure)
{
    int more = 0;
    int err = 0;
    while (!err && (more = store_step(store, statement, failure)) > 0) {
        struct store_hit hit = {
            .session = store_column_str(statement, 0),
            .agent = store_column_str(statement, 1),
            .title = store_column_str(statement, 2),
            .seq = store_place_seq(sqlite.column_int64(statement, 3)),
            .time = sqlite.column_int64(statement, 4),
            .author = store_column_str(statement, 5),
            .snippet = store_column_str(statement, 6),
        };
        err = each(&hit, user);
    }
    (void) sqlite.reset(statement);
    return err ? err : more;
}

/* Hands over what matches the query as FTS5 has it. */
static int find_matches(struct store *store, const struct store_query *query, struct acp_str match,
                        store_hit_fn *each, void *user, struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, query->newest_first ? STORE_SEARCH_NEWEST : STORE_SEARCH_BEST,
                            &statement, failure);
    if (err)
        return err;
    bind_query(statement, query, match);
    return each_hit(store, statement, each, user, failure);
}

int store_search(struct store *store, const struct store_query *query, store_hit_fn *each,
                 void *user, struct acp_failure *failure)
{
    enum { QUERY_MAX = 64 * 1024 };
    int err = store_index_all(store, failure);
    /* Where nothing can be written, what is in the index is still worth a search. */
    if (err && acp_err_errno(err) != EROFS)
        return err;
    struct acp_buf match;
    acp_buf_init(&match, QUERY_MAX);
    err = write_query(query->words, &match);
    if (err)
        (void) store_fail(failure, err, "too many words to search for");
    else if (match.len > 0)
        err = find_matches(store, query, acp_buf_view(&match), each, user, failure);
    acp_buf_finish(&match);
    return err;
}
