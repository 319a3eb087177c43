keet_test(emu_services emu core base LABEL emulator)
