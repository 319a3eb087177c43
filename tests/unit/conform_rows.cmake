keet_test(conform_rows emu ptx core base LINK Threads::Threads m LABEL emulator)
