// SPDX-License-Identifier: Apache-2.0
//
// What core must not do, one function each, for the check that looks for it.
#include <cstdio>
#include <ctime>

int* allocate();
void print();
void fail();
void read_clock(timespec& now);

int* allocate() { return new int; }
void print() { std::puts("core speaks"); }
void fail() { throw 1; }
void read_clock(timespec& now) { ::clock_gettime(CLOCK_MONOTONIC, &now); }
