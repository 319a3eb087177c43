#include "output.h"
#include "scale.h"

#include <cstdio>

void write_field(const char *path, const float *field, int n)
{
    FILE *file = fopen(path, "w");
    for (int i = 0; i < n; i++)
        fprintf(file, "%.6f\n", field[i]);
    fclose(file);
}

int half_block()
{
    return 128;
}
