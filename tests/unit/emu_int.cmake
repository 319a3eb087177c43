keet_test(emu_int emu ptx core base LINK Threads::Threads m LABEL emulator)
