keet_test(emu_sums emu ptx core base LINK Threads::Threads m LABEL emulator)
