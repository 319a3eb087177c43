keet_test(conform_float emu ptx core base LINK Threads::Threads m LABEL emulator)
