/* Attempts by way of sockets: to the machine's own services, and of odd kinds. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "escape.h"

static bool connect_to(int family, int type, const void *address, socklen_t size)
{
    int fd = socket(family, type | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, address, size) == 0 && write(fd, INTRUDER, 1) == 1;
}

static bool connect_inet(int type, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t) port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return connect_to(AF_INET, type, &to, sizeof(to));
}

static bool connect_tcp(const struct scene *s)
{
    return connect_inet(SOCK_STREAM, s->tcp);
}

static bool connect_tcp6(const struct scene *s)
{
    struct sockaddr_in6 to = {.sin6_family = AF_INET6,
                              .sin6_port = htons((uint16_t) s->tcp),
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    return connect_to(AF_INET6, SOCK_STREAM, &to, sizeof(to));
}

/* An address of version 4 in a socket of version 6, which a filter of addresses may not know. */
static bool connect_mapped(const struct scene *s)
{
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t) s->tcp)};
    (void) inet_pton(AF_INET6, "::ffff:127.0.0.1", &to.sin6_addr);
    return connect_to(AF_INET6, SOCK_STREAM, &to, sizeof(to));
}

static bool send_udp(const struct scene *s)
{
    return connect_inet(SOCK_DGRAM, s->udp);
}

static bool connect_unix(const char *name, bool abstract)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t n = strlen(name);
    memcpy(to.sun_path + abstract, name, n);
    socklen_t size = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + abstract + n);
    return connect_to(AF_UNIX, SOCK_STREAM, &to, size);
}

static bool connect_abstract(const struct scene *s)
{
    return connect_unix(s->abstract, true);
}

static bool connect_path(const struct scene *s)
{
    return connect_unix(path_in(s->outside, "socket"), false);
}

static bool connect_path_by_link(const struct scene *s)
{
    const char *link = path_in(s->root, "sub/socket");
    (void) unlink(link);
    return symlink(path_in(s->outside, "socket"), link) == 0 && connect_unix(link, false);
}

static bool is_made(int family, int type, int protocol)
{
    return socket(family, type, protocol) >= 0;
}

static bool make_raw(const struct scene *s)
{
    (void) s;
    return is_made(AF_INET, SOCK_RAW, IPPROTO_ICMP) || is_made(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
}

static bool make_packet(const struct scene *s)
{
    (void) s;
    return is_made(AF_PACKET, SOCK_RAW, 0) || is_made(AF_PACKET, SOCK_DGRAM, 0);
}

static bool make_netlink(const struct scene *s)
{
    (void) s;
    return is_made(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT) ||
           is_made(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT) ||
           is_made(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
}

static bool make_odd(const struct scene *s)
{
    static const int families[] = {AF_VSOCK, AF_ALG, AF_BLUETOOTH, AF_CAN, AF_TIPC,
                                   AF_RDS,   AF_KEY, AF_XDP,       AF_X25, AF_AX25};
    bool made = false;
    (void) s;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        made = made || is_made(families[i], SOCK_STREAM, 0) ||
               is_made(families[i], SOCK_DGRAM, 0) || is_made(families[i], SOCK_SEQPACKET, 0) ||
               is_made(families[i], SOCK_RAW, 0);
    return made;
}

static bool use_pair(const struct scene *s)
{
    int pair[2];
    (void) s;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && write(pair[0], "x", 1) == 1;
}

#define ATTACK false, NULL

const struct attempt escape_network[] = {
    {"use a pair of sockets", use_pair, EFFECT_NONE, PROOF_ALL, true, NULL},
    {"connect by TCP", connect_tcp, EFFECT_TCP, PROOF_ALL, ATTACK},
    {"connect by TCP and IPv6", connect_tcp6, EFFECT_TCP, PROOF_NONE, ATTACK},
    {"connect by a mapped address", connect_mapped, EFFECT_TCP, PROOF_NONE, ATTACK},
    {"send by UDP", send_udp, EFFECT_UDP, PROOF_ALL, ATTACK},
    {"connect to an abstract socket", connect_abstract, EFFECT_UNIX, PROOF_ALL, ATTACK},
    {"connect to a socket by its path", connect_path, EFFECT_UNIX, PROOF_ALL, ATTACK},
    {"connect to a socket by a link", connect_path_by_link, EFFECT_UNIX, PROOF_ALL, ATTACK},
    {"make a raw socket", make_raw, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"make a packet socket", make_packet, EFFECT_NONE, PROOF_ROOT, ATTACK},
    {"make a netlink socket", make_netlink, EFFECT_NONE, PROOF_ALL, ATTACK},
    {"make odd sockets", make_odd, EFFECT_NONE, PROOF_NONE, ATTACK},
    {0},
};
