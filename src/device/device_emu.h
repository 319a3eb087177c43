/* The emulator as a device. Private to device/: others call device_create. */
#ifndef KEET_DEVICE_DEVICE_EMU_H
#define KEET_DEVICE_DEVICE_EMU_H

#include "device/device.h"

struct device *device_emu_create(const struct chip *chip, unsigned nr_threads, struct err *err);

void device_emu_interrupt(void); /* see device_interrupt */
void device_emu_go_on(void);

#endif
