/*
 * model_server.h - a language model on a loopback port of this process, by OpenAI's chat
 * completions: it says as many pieces as it is told to, each in an event of its own.  Its list of
 * models has MODEL_SERVER_LISTED.
 */
#ifndef BENCH_MODEL_SERVER_H
#define BENCH_MODEL_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MODEL_SERVER_LISTED "listed"

/* What it answers to every prompt. */
struct model_words {
    size_t pieces;
    size_t bytes;    /* of a piece; 0: each is the time at which it was sent, in ns, and a blank */
    unsigned gap_us; /* from one piece to the next; with 0 many go into one write */
};

/* Starts it in threads of its own, which end with the process.  Gives the port. */
uint16_t model_server_start(void);

/* A connection to it, for reading and writing; the caller closes it. */
FILE *model_server_connect(uint16_t port);

/* For the requests that come from now on. */
void model_server_say(struct model_words words);

#endif
