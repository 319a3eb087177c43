keet_test(emu_run emu ptx core base LINK Threads::Threads m LABEL emulator)
