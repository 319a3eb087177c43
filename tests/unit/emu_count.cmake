keet_test(emu_count emu ptx core base LINK Threads::Threads m LABEL emulator)
