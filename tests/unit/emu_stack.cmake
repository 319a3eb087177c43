keet_test(emu_stack emu ptx core base LINK Threads::Threads m LABEL emulator)
