/* Owns nothing yet but the absence of listeners for races and uninitialised reads. */
#include "emu/event.h"

const struct emu_listener_class *emu_races_class(void)
{
    return NULL;
}

const struct emu_listener_class *emu_uninit_class(void)
{
    return NULL;
}
