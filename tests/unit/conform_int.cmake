keet_test(conform_int emu ptx core base LINK Threads::Threads m LABEL emulator)
