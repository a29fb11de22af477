/* The SQL of the statements that are kept prepared. */
#include "store/statements.h"

/* In the order in which session_rows.c reads them. */
#define SESSION_COLUMNS                                                                            \
    "id, agent, command, agent_session, name, scope, cwd, directories, title, settings, usage, "   \
    "stop_reason, created, updated, closed, last_seq, running, number"

#define SEARCH                                                                                     \
    "SELECT s.id, s.agent, s.title, t.rowid, e.time, t.author,"                                    \
    "  snippet(texts, 0, ?2, ?3, '\xe2\x80\xa6', 24)"                                              \
    " FROM texts AS t JOIN sessions AS s ON s.number = t.rowid >> 32"                              \
    " JOIN events AS e ON e.place = (SELECT max(place) FROM events WHERE place <= t.rowid)"        \
    " WHERE texts MATCH ?1 AND (?4 IS NULL OR s.id = ?4) AND (?5 IS NULL OR s.agent = ?5)"         \
    "  AND (?6 IS NULL OR s.scope = ?6) AND (?7 IS NULL OR t.author = ?7)"

/* A negative limit is none. */
const char *const store_statement_sql[STORE_STATEMENT_COUNT] = {
    [STORE_INSERT_SESSION] =
        "INSERT INTO sessions (id, agent, command, agent_session, name, scope, cwd, directories,"
        "  title, settings, usage, stop_reason, created, updated, closed)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    [STORE_SELECT_SESSION] = "SELECT " SESSION_COLUMNS " FROM sessions WHERE id = ?1",
    [STORE_SELECT_PREFIX] = "SELECT " SESSION_COLUMNS " FROM sessions WHERE number IN"
                            " (SELECT number FROM sessions WHERE id >= ?1 AND id < ?2"
                            "  UNION SELECT number FROM sessions"
                            "   WHERE length(id) = 36 AND substr(id, 25, ?3) = ?1)"
                            " ORDER BY id <> ?1, id LIMIT 2",
    [STORE_SELECT_NAMED] = "SELECT " SESSION_COLUMNS " FROM sessions"
                           " WHERE (?1 IS NULL OR agent = ?1) AND scope = ?2 AND name IS ?3"
                           "  AND closed IS NULL"
                           " ORDER BY created DESC, number DESC LIMIT 1",
    [STORE_SELECT_LIST] = "SELECT " SESSION_COLUMNS " FROM sessions"
                          " WHERE (?1 IS NULL OR agent = ?1) AND (?2 IS NULL OR scope = ?2)"
                          "  AND (?3 IS NULL OR cwd = ?3) AND (?4 IS NULL OR name = ?4)"
                          "  AND (?5 = 0 OR (closed IS NOT NULL) = (?5 = 2))"
                          "  AND (?8 = 0 OR last_seq > 0)"
                          " ORDER BY updated DESC, number DESC LIMIT ?6 OFFSET ?7",
    [STORE_SELECT_PRUNE] = "SELECT " SESSION_COLUMNS " FROM sessions"
                           " WHERE (?1 IS NULL OR agent = ?1) AND (?2 IS NULL OR scope = ?2)"
                           "  AND (?3 = 0 OR updated < ?3) AND (?4 = 0 OR closed IS NOT NULL)"
                           "  AND number NOT IN (SELECT number FROM sessions"
                           "   WHERE (?1 IS NULL OR agent = ?1) AND (?2 IS NULL OR scope = ?2)"
                           "   ORDER BY updated DESC, number DESC LIMIT ?5)"
                           " ORDER BY updated, number",
    [STORE_SELECT_NUMBER] = "SELECT number FROM sessions WHERE id = ?1",
    [STORE_UPDATE_LAST] =
        "UPDATE sessions SET last_seq = ?2, updated = max(updated, ?3) WHERE number = ?1",
    [STORE_DELETE_SESSION] = "DELETE FROM sessions WHERE number = ?1",
    [STORE_DELETE_EVENTS] = "DELETE FROM events WHERE place BETWEEN ?1 AND ?2",
    [STORE_INSERT_EVENT] =
        "INSERT INTO events (place, time, turn, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    [STORE_INSERT_RUN] = "INSERT INTO events (place, time, turn, kind, body, count, size)"
                         " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    /* ?1 may lie within a run, whose row has the place of its first event. */
    [STORE_SELECT_EVENTS] = "SELECT place, time, turn, kind, body, count, size FROM events"
                            " WHERE place BETWEEN coalesce((SELECT max(place) FROM events"
                            "  WHERE place BETWEEN ?4 AND ?1), ?1) AND ?2 ORDER BY place LIMIT ?3",
    [STORE_SELECT_LAST_TURN] = "SELECT turn FROM events WHERE place BETWEEN ?1 AND ?2"
                               " AND turn > 0 ORDER BY place DESC LIMIT 1",
    [STORE_SELECT_UNINDEXED] =
        "SELECT number FROM sessions WHERE seen_seq < last_seq ORDER BY number LIMIT 1",
    [STORE_SELECT_INDEXED] =
        "SELECT indexed_seq, seen_seq, last_seq FROM sessions WHERE number = ?1",
    [STORE_UPDATE_INDEXED] =
        "UPDATE sessions SET indexed_seq = ?2, seen_seq = ?3 WHERE number = ?1",
    [STORE_INSERT_TEXT] = "INSERT INTO texts (rowid, content, author) VALUES (?1, ?2, ?3)",
    [STORE_DELETE_TEXTS] = "DELETE FROM texts WHERE rowid BETWEEN ?1 AND ?2",
    [STORE_SEARCH_BEST] = SEARCH " ORDER BY t.rank, e.time DESC LIMIT ?8 OFFSET ?9",
    [STORE_SEARCH_NEWEST] = SEARCH " ORDER BY e.time DESC, t.rowid DESC LIMIT ?8 OFFSET ?9",
};
