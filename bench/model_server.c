/* model_server.c - a language model on a loopback port; a thread for each connection. */
#define _GNU_SOURCE /* accept4, strcasestr */
#include "model_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

enum { REQUEST_MAX = 8 << 20, OUT_MAX = 64 << 10, PIECE_MAX = 4 << 10, FRAME_MAX = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct model_words to_say = {.pieces = 1, .bytes = 10};

void model_server_say(struct model_words words)
{
    if (words.bytes > PIECE_MAX)
        abort();
    (void) pthread_mutex_lock(&mutex);
    to_say = words;
    (void) pthread_mutex_unlock(&mutex);
}

static struct model_words words_now(void)
{
    (void) pthread_mutex_lock(&mutex);
    struct model_words words = to_say;
    (void) pthread_mutex_unlock(&mutex);
    return words;
}

struct connection {
    int fd;
    char out[OUT_MAX]; /* not sent yet */
    size_t filled;
    char *in; /* a request */
};

/* ---- Answers --------------------------------------------------------------------------------- */

static void send_out(struct connection *c)
{
    for (size_t done = 0; done < c->filled;) {
        ssize_t n = send(c->fd, c->out + done, c->filled - done, MSG_NOSIGNAL);
        if (n <= 0)
            break; /* the client has gone; the next read says so too */
        done += (size_t) n;
    }
    c->filled = 0;
}

static void put(struct connection *c, const char *text)
{
    size_t n = strlen(text);
    if (c->filled + n > OUT_MAX)
        send_out(c);
    memcpy(c->out + c->filled, text, n);
    c->filled += n;
}

/* One event as one chunk of HTTP. */
static void put_event(struct connection *c, const char *data)
{
    char size[32];
    (void) snprintf(size, sizeof(size), "%zx\r\n", strlen(data) + sizeof("data: \n\n") - 1);
    put(c, size);
    put(c, "data: ");
    put(c, data);
    put(c, "\n\n\r\n");
}

static void put_piece(struct connection *c, const char *text)
{
    char data[PIECE_MAX + FRAME_MAX];
    (void) snprintf(data, sizeof(data),
                    "{\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,"
                    "\"delta\":{\"content\":\"%s\"}}]}",
                    text);
    put_event(c, data);
}

static void answer(struct connection *c)
{
    struct model_words words = words_now();
    char text[PIECE_MAX + 1] = "";
    memset(text, 'w', words.bytes);
    put(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
           "Transfer-Encoding: chunked\r\n\r\n");
    for (size_t i = 0; i < words.pieces; i++) {
        if (!words.bytes)
            (void) snprintf(text, sizeof(text), "%llu ", (unsigned long long) bench_now());
        put_piece(c, text);
        if (words.gap_us) {
            send_out(c);
            (void) usleep(words.gap_us);
        }
    }
    put_event(c, "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}");
    put_event(c, "[DONE]");
    put(c, "0\r\n\r\n");
    send_out(c);
}

static void answer_list(struct connection *c)
{
    static const char list[] = "{\"data\":[{\"id\":\"" MODEL_SERVER_LISTED "\"}]}";
    char head[100];
    (void) snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n",
                    sizeof(list) - 1);
    put(c, head);
    put(c, list);
    send_out(c);
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* The length of the body that a head tells of. */
static size_t body_length(const char *head)
{
    const char *line = strcasestr(head, "\r\nContent-Length:");
    return line ? strtoul(line + sizeof("\r\nContent-Length:") - 1, NULL, 10) : 0;
}

/* Reads one request into c->in; false when the connection ends. */
static bool read_request(struct connection *c)
{
    size_t have = 0;
    for (;;) {
        c->in[have] = '\0';
        const char *end = strstr(c->in, "\r\n\r\n");
        if (end && have >= (size_t) (end + 4 - c->in) + body_length(c->in))
            return true;
        ssize_t n = recv(c->fd, c->in + have, REQUEST_MAX - have, 0);
        if (n <= 0)
            return false;
        have += (size_t) n;
    }
}

static void *serve(void *user)
{
    struct connection *c = user;
    while (read_request(c)) {
        if (strncmp(c->in, "POST ", 5) == 0) {
            answer(c);
        } else {
            answer_list(c);
        }
    }
    (void) close(c->fd);
    free(c->in);
    free(c);
    return NULL;
}

static void *accept_all(void *user)
{
    int listening = *(int *) user;
    int on = 1;
    for (;;) {
        pthread_t thread;
        struct connection *c = calloc(1, sizeof(*c));
        char *in = malloc(REQUEST_MAX + 1);
        if (!c || !in)
            abort();
        c->in = in;
        c->fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        (void) setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        if (c->fd < 0 || pthread_create(&thread, NULL, serve, c))
            abort();
        (void) pthread_detach(thread);
    }
}

static struct sockaddr_in at_port(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

uint16_t model_server_start(void)
{
    static int listening;
    struct sockaddr_in address = at_port(0);
    socklen_t size = sizeof(address);
    pthread_t thread;
    listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listening, (struct sockaddr *) &address, size) || listen(listening, 16) ||
        getsockname(listening, (struct sockaddr *) &address, &size) ||
        pthread_create(&thread, NULL, accept_all, &listening))
        abort();
    (void) pthread_detach(thread);
    return ntohs(address.sin_port);
}

FILE *model_server_connect(uint16_t port)
{
    struct sockaddr_in address = at_port(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *) &address, sizeof(address)))
        abort();
    FILE *server = fdopen(fd, "r+");
    if (!server)
        abort();
    return server;
}
