keet_test(emu_mbarrier emu ptx core base LINK Threads::Threads m LABEL emulator)
