keet_test(emu_bulk emu ptx core base LINK Threads::Threads m LABEL emulator)
