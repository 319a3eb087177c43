#include "kernels.h"

#include <cstdlib>

int main(int argc, char **argv)
{
    Settings settings;
    settings.count = argc > 1 ? std::atoi(argv[1]) : 900;
    halve_all(settings);
}
