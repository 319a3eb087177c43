keet_test(emu_float emu ptx core base LINK Threads::Threads m LABEL emulator)
