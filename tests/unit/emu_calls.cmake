keet_test(emu_calls emu ptx core base LINK Threads::Threads m LABEL emulator)
