keet_test(emu_branch emu ptx core base LINK Threads::Threads m LABEL emulator)
