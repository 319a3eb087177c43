keet_test(conform_move emu ptx core base LINK Threads::Threads m LABEL emulator)
