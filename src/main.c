/* Owns the process: argv in, exit status out. */
#include <stdio.h>

int main(void)
{
    puts("keet-opt " KEET_VERSION);
    return 0;
}
