keet_test(emu_tensor emu ptx core base LINK Threads::Threads m LABEL emulator)
