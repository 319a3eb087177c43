#pragma once

struct Range {
    int from, to;
};

#define THREADS 128
