/* Whose a listener is, from the tables of the kernel and from the kernel itself. */
#include "model/listener.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
#define REST " 00000000:00000000 00:00000000 00000000 "

static void test_tables(void **state)
{
    (void) state;
    /* The port is 1234, which is 04D2; this user is 1000. */
    static const struct {
        const char *table;
        bool six;
        enum listener found;
        unsigned uid;
    } rows[] = {
        {"", false, LISTENER_NONE, 0},
        {HEAD, false, LISTENER_NONE, 0},
        {HEAD " 0: 0100007F:04D2 00000000:0000 0A" REST " 1000 0 1\n", false, LISTENER_OWN, 0},
        {HEAD " 0: 0100007F:04d2 00000000:0000 0a" REST " 1000 0 1\n", false, LISTENER_OWN, 0},
        {HEAD " 0: 0100007F:04D2 00000000:0000 0A" REST "    0 0 1", false, LISTENER_OWN, 0},
        {HEAD " 0: 0100007F:04D2 00000000:0000 0A" REST " 1001 0 1\n", false, LISTENER_FOREIGN,
         1001},
        {HEAD " 0: 00000000:04D2 00000000:0000 0A" REST " 1001 0 1\n", false, LISTENER_FOREIGN,
         1001},
        /* One of two is foreign, in either order. */
        {" 0: 0100007F:04D2 00000000:0000 0A" REST " 1000 0 1\n"
         " 1: 00000000:04D2 00000000:0000 0A" REST " 7 0 1\n",
         false, LISTENER_FOREIGN, 7},
        {" 1: 00000000:04D2 00000000:0000 0A" REST " 7 0 1\n"
         " 0: 0100007F:04D2 00000000:0000 0A" REST " 1000 0 1\n",
         false, LISTENER_FOREIGN, 7},
        /* Another port, another address, another state, the other end. */
        {" 0: 0100007F:04D3 00000000:0000 0A" REST " 7 0 1\n", false, LISTENER_NONE, 0},
        {" 0: 0200007F:04D2 00000000:0000 0A" REST " 7 0 1\n", false, LISTENER_NONE, 0},
        {" 0: 0100007F:04D2 0100007F:9999 01" REST " 7 0 1\n", false, LISTENER_NONE, 0},
        {" 0: 0100007F:9999 0100007F:04D2 0A" REST " 7 0 1\n", false, LISTENER_NONE, 0},
        /* Of IPv6 those that also take IPv4. */
        {" 0: 00000000000000000000000000000000:04D2 00000000000000000000000000000000:0000 0A" REST
         " 7 0 1\n",
         true, LISTENER_FOREIGN, 7},
        {" 0: 0000000000000000FFFF00000100007F:04D2 00000000000000000000000000000000:0000 0A" REST
         " 1000 0 1\n",
         true, LISTENER_OWN, 0},
        {" 0: 00000000000000000000000001000000:04D2 00000000000000000000000000000000:0000 0A" REST
         " 7 0 1\n",
         true, LISTENER_NONE, 0},
        /* Rows that are none. */
        {" 0: 0100007F:04D2", false, LISTENER_NONE, 0},
        {" 0: 0100007F 00000000:0000 0A" REST " 7 0 1\n", false, LISTENER_NONE, 0},
        {" 0: 0100007:04D2 00000000:0000 0A" REST " 7 0 1\n", false, LISTENER_NONE, 0},
        {" 0: 0100007G:04D2 00000000:0000 0A" REST " 7 0 1\n", false, LISTENER_NONE, 0},
        {" 0: 0100007F:04D2 00000000:0000 0A" REST " x 0 1\n", false, LISTENER_NONE, 0},
        {" 0: 0100007F:04D2 00000000:0000 0A" REST " 4294968296 0 1\n", false, LISTENER_NONE, 0},
        {" 0: 0100007F:04D2 00000000:0000 0A" REST, false, LISTENER_NONE, 0},
        {"\n\n   \n", false, LISTENER_NONE, 0},
    };
    if (htonl(1) == 1)
        skip(); /* the tables above are those of a machine with the other order of bytes */
    for (size_t i = 0; i < COUNT(rows); i++) {
        uid_t uid = 0;
        enum listener found =
            listener_in(acp_str_from(rows[i].table), rows[i].six, 1234, (uid_t) 1000, &uid);
        CHECK_ROW(found == rows[i].found && uid == rows[i].uid, i, "%d, %u", (int) found,
                  (unsigned) uid);
    }
}

/* A listener on loopback; its port. */
static unsigned listen_somewhere(int family, int *ret)
{
    struct sockaddr_storage address = {.ss_family = (sa_family_t) family};
    struct sockaddr_in *four = (struct sockaddr_in *) &address;
    socklen_t size = family == AF_INET ? sizeof(*four) : sizeof(struct sockaddr_in6);
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    if (family == AF_INET)
        four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *) &address, size), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &address, &size), 0);
    *ret = fd;
    return ntohs(four->sin_port); /* which is at the same place in both */
}

static void test_this_machine(void **state)
{
    (void) state;
    int families[] = {AF_INET, AF_INET6};
    for (size_t i = 0; i < COUNT(families); i++) {
        int fd = -1;
        uid_t uid = 0;
        unsigned port = listen_somewhere(families[i], &fd);
        if (!port)
            continue; /* a machine without IPv6 */
        assert_int_equal(listener_at(port, &uid), LISTENER_OWN);
        (void) close(fd);
        assert_int_equal(listener_at(port, &uid), LISTENER_NONE);
    }
}

/* Root can be somebody else; the socket is then that user's. */
static void test_another_user(void **state)
{
    (void) state;
    enum { SOMEBODY = 65533 };
    if (geteuid() != 0)
        skip();
    int ends[2];
    int stop[2];
    assert_int_equal(pipe(ends) | pipe(stop), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = -1;
        char byte;
        unsigned port = setuid(SOMEBODY) ? 0 : listen_somewhere(AF_INET, &fd);
        (void) close(stop[1]);
        (void) !write(ends[1], &port, sizeof(port));
        (void) !read(stop[0], &byte, 1);
        _exit(0);
    }
    unsigned port = 0;
    uid_t uid = 0;
    assert_int_equal(read(ends[0], &port, sizeof(port)), sizeof(port));
    enum listener found = listener_at(port, &uid);
    (void) close(stop[0]);
    (void) close(stop[1]);
    (void) waitpid(pid, NULL, 0);
    (void) close(ends[0]);
    (void) close(ends[1]);
    assert_int_not_equal(port, 0);
    assert_int_equal(found, LISTENER_FOREIGN);
    assert_int_equal(uid, SOMEBODY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables),
                                       cmocka_unit_test(test_this_machine),
                                       cmocka_unit_test(test_another_user)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
