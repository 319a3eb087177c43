#ifndef BINS_H
#define BINS_H

#define NR_BINS 64 // of a byte's 256 values

#endif
