/*
 * test_no_sync.h - nothing is waited for until it is on the disk.
 *
 * For programs that make a database hundreds of times and no test of what a loss of power leaves.
 * SQLite, which is loaded, finds these functions if the program exports them (export_dynamic).
 */
#ifndef TESTS_UNIT_TEST_NO_SYNC_H
#define TESTS_UNIT_TEST_NO_SYNC_H

#include <unistd.h>

int fsync(int file)
{
    (void) file;
    return 0;
}

int fdatasync(int file)
{
    return fsync(file);
}

#endif
