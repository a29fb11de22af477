/*
 * The tables of sockets in /proc/net.  A row has, with blanks between:
 *
 *   sl  local_address:port  rem_address:port  st  tx_queue:rx_queue  tr:tm->when  retrnsmt  uid ...
 *
 * Addresses are in hexadecimal, in words of four bytes as the machine has them; the port is a plain
 * number.  State 0A is that of a listener.
 */
#include "model/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    STATE_LISTEN = 0x0a,
    MAX_TABLE = 16 * 1024 * 1024,
    FIELD_LOCAL = 1,
    FIELD_STATE = 3,
    FIELD_UID = 7,
};

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_number(struct acp_str text, unsigned base, uint64_t *ret)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        int value = digit(text.ptr[i]);
        if (value < 0 || value >= (int) base || number > UINT32_MAX)
            return false;
        number = number * base + (unsigned) value;
    }
    *ret = number;
    return text.len && number <= UINT32_MAX;
}

/* The next word of a row, which it is taken from; empty at the end. */
static struct acp_str next_word(struct acp_str *row)
{
    size_t from = 0;
    while (from < row->len && row->ptr[from] == ' ')
        from++;
    size_t to = from;
    while (to < row->len && row->ptr[to] != ' ')
        to++;
    struct acp_str word = acp_str_n(row->ptr + from, to - from);
    *row = acp_str_n(row->ptr + to, row->len - to);
    return word;
}

/* Whether a connection to 127.0.0.1 could reach it: that address, or any. */
static bool is_reached(struct acp_str address, bool six)
{
    uint64_t words[4] = {0};
    size_t count = six ? 4 : 1;
    if (address.len != 8 * count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!read_number(acp_str_n(address.ptr + 8 * i, 8), 16, &words[i]))
            return false;
    if (!six)
        return words[0] == 0 || words[0] == htonl(INADDR_LOOPBACK);
    bool mapped = words[2] == htonl(0xffff) && words[3] == htonl(INADDR_LOOPBACK);
    return words[0] == 0 && words[1] == 0 && (mapped || (words[2] == 0 && words[3] == 0));
}

static bool is_local(struct acp_str word, bool six, unsigned port)
{
    const char *colon = word.len ? memchr(word.ptr, ':', word.len) : NULL;
    uint64_t number;
    if (!colon)
        return false;
    size_t n = (size_t) (colon - word.ptr);
    return read_number(acp_str_n(colon + 1, word.len - n - 1), 16, &number) && number == port &&
           is_reached(acp_str_n(word.ptr, n), six);
}

/* Whether a row is of a listener there, and whose it is. */
static bool read_row(struct acp_str row, bool six, unsigned port, uint64_t *ret_uid)
{
    uint64_t state = 0;
    for (int field = 0; field <= FIELD_UID; field++) {
        struct acp_str word = next_word(&row);
        if (field == FIELD_LOCAL && !is_local(word, six, port))
            return false;
        if (field == FIELD_STATE && (!read_number(word, 16, &state) || state != STATE_LISTEN))
            return false;
        if (field == FIELD_UID)
            return read_number(word, 10, ret_uid);
    }
    return false;
}

enum listener listener_in(struct acp_str table, bool six, unsigned port, uid_t own, uid_t *ret_uid)
{
    enum listener found = LISTENER_NONE;
    while (table.len) {
        const char *end = memchr(table.ptr, '\n', table.len);
        size_t n = end ? (size_t) (end - table.ptr) : table.len;
        uint64_t uid;
        bool listens = read_row(acp_str_n(table.ptr, n), six, port, &uid);
        if (listens && uid != 0 && uid != own) {
            *ret_uid = (uid_t) uid;
            return LISTENER_FOREIGN;
        }
        if (listens)
            found = LISTENER_OWN;
        n += end != NULL;
        table = acp_str_n(table.ptr + n, table.len - n);
    }
    return found;
}

#if defined(__linux__)

/* A table has no size before it is read, and may not come in one piece. */
static bool read_table(const char *path, struct acp_buf *out)
{
    char piece[16384];
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0)
        if (acp_buf_append(out, piece, (size_t) n))
            break;
    if (fd >= 0)
        (void) close(fd);
    return n == 0;
}

enum listener listener_at(unsigned port, uid_t *ret_uid)
{
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    enum listener found = LISTENER_NONE;
    for (int six = 0; six < 2 && found != LISTENER_FOREIGN; six++) {
        struct acp_buf table;
        enum listener here = LISTENER_NONE;
        acp_buf_init(&table, MAX_TABLE);
        if (read_table(tables[six], &table))
            here = listener_in(acp_buf_view(&table), six, port, geteuid(), ret_uid);
        acp_buf_finish(&table);
        if (here != LISTENER_NONE)
            found = here;
    }
    return found;
}

#else

/* Nothing says it here; whoever listens on loopback is believed. */
enum listener listener_at(unsigned port, uid_t *ret_uid)
{
    (void) port;
    (void) ret_uid;
    return LISTENER_OWN;
}

#endif
