/*
 * The switch of mutations, for sources that tools/mutants has written anew.
 *
 * A file that all processes map holds the number of the mutation that is on, and a byte for each
 * mutation that is set when its place is reached.  So the switch works in every process without
 * being handed on, also after fork(), after the environment was cleared, and behind seccomp; where
 * the file cannot be seen no mutation is on.  Everything is weak and hidden: a library or a program
 * has it once, however many of its files were written anew, and also when it is linked to an
 * archive of others.  No header is included, since the file below may ask for features of its own.
 */
#ifndef ACP_MUTANT_SWITCH
#define ACP_MUTANT_SWITCH

#ifndef ACP_MUTANT_FILE
#error "ACP_MUTANT_FILE is the path of the switch"
#endif
enum { ACP_MUTANT_ROOM = 65536, ACP_MUTANT_REACHED = 16 };

/* Where no file is mapped: nothing is on, and what is reached is forgotten. */
__attribute__((weak, visibility("hidden"))) unsigned char acp_mutant_none[ACP_MUTANT_ROOM];
__attribute__((weak, visibility("hidden"))) unsigned char *volatile acp_mutant_page;

/* By hand where that is known: tests put functions of their own in the place of syscall(). */
#if defined(__x86_64__)
enum { ACP_MUTANT_OPENAT = 257, ACP_MUTANT_MMAP = 9, ACP_MUTANT_CLOSE = 3 };
static inline long acp_mutant_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long done;
    __asm__ volatile("syscall"
                     : "=a"(done)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return done;
}
#else
/* The numbers that newer architectures share. */
enum { ACP_MUTANT_OPENAT = 56, ACP_MUTANT_MMAP = 222, ACP_MUTANT_CLOSE = 57 };
extern long syscall(long number, ...);
#define acp_mutant_call syscall
#endif

__attribute__((weak, visibility("hidden"), constructor, no_sanitize("address", "undefined"))) void
acp_mutant_open(void);
__attribute__((weak, visibility("hidden"), constructor, no_sanitize("address", "undefined"))) void
acp_mutant_open(void)
{
    long fd, at;
    if (acp_mutant_page)
        return;
    acp_mutant_page = acp_mutant_none;
    /* AT_FDCWD, O_RDWR | O_CLOEXEC; then PROT_READ | PROT_WRITE, MAP_SHARED. */
    fd = acp_mutant_call(ACP_MUTANT_OPENAT, -100L, (long) ACP_MUTANT_FILE, 02000002L, 0L, 0L, 0L);
    if (fd < 0)
        return;
    at = acp_mutant_call(ACP_MUTANT_MMAP, 0L, (long) ACP_MUTANT_ROOM, 3L, 1L, fd, 0L);
    (void) acp_mutant_call(ACP_MUTANT_CLOSE, fd, 0L, 0L, 0L, 0L, 0L);
    if (at > 0)
        acp_mutant_page = (unsigned char *) at;
}

__attribute__((no_sanitize("address", "undefined"), unused)) static inline int acp_mutant(
    unsigned number)
{
    unsigned char *page = acp_mutant_page;
    if (!page) {
        acp_mutant_open();
        page = acp_mutant_page;
    }
    if (!page[ACP_MUTANT_REACHED + number])
        page[ACP_MUTANT_REACHED + number] = 1;
    return *(volatile unsigned *) page == number;
}

#endif
