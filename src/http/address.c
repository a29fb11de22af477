/* address.c - which addresses are of the public internet. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "http/http_client.h"

/* Networks of IPv4 that are not public: their first address, and how many of its bits count. */
static const struct {
    uint32_t from;
    unsigned bits;
} private_v4[] = {
    {0x00000000, 8},  /* this network */
    {0x0A000000, 8},  /* private */
    {0x64400000, 10}, /* shared behind a provider's translation */
    {0x7F000000, 8},  /* this machine */
    {0xA9FE0000, 16}, /* the link; clouds have their secrets there */
    {0xAC100000, 12}, /* private */
    {0xC0000000, 24}, /* protocols */
    {0xC0000200, 24}, /* for books */
    {0xC0586300, 24}, /* what once led to IPv6 */
    {0xC0A80000, 16}, /* private */
    {0xC6120000, 15}, /* for measuring */
    {0xC6336400, 24}, /* for books */
    {0xCB007100, 24}, /* for books */
    {0xE0000000, 3},  /* groups, and what is reserved */
};

static bool is_public_v4(uint32_t address)
{
    for (size_t i = 0; i < sizeof(private_v4) / sizeof(private_v4[0]); i++)
        if ((address ^ private_v4[i].from) >> (32 - private_v4[i].bits) == 0)
            return false;
    return true;
}

static uint32_t four_bytes(const uint8_t *bytes)
{
    return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 |
           bytes[3];
}

/* Of IPv6 one eighth is in use, and not all of that.  Some addresses have one of IPv4 inside. */
static bool is_public_v6(const uint8_t bytes[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    static const uint8_t translated[12] = {0x00, 0x64, 0xFF, 0x9B};
    uint32_t first = four_bytes(bytes);
    if (memcmp(bytes, mapped, sizeof(mapped)) == 0 ||
        memcmp(bytes, translated, sizeof(translated)) == 0)
        return is_public_v4(four_bytes(bytes + 12));
    if (first >> 16 == 0x2002) /* 6to4 */
        return is_public_v4(four_bytes(bytes + 2));
    bool is_protocol = first >> 9 == 0x20010000 >> 9; /* 2001::/23, with tunnels in it */
    bool is_for_books = first == 0x20010DB8 || first >> 12 == 0x3FFF0000 >> 12;
    return first >> 29 == 1 && !is_protocol && !is_for_books;
}

bool http_is_public(const struct sockaddr *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    switch (address->sa_family) {
    case AF_INET:
        memcpy(&v4, address, sizeof(v4));
        return is_public_v4(ntohl(v4.sin_addr.s_addr));
    case AF_INET6:
        memcpy(&v6, address, sizeof(v6));
        return is_public_v6(v6.sin6_addr.s6_addr);
    default:
        return false;
    }
}
