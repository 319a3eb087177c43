keet_test(emu_shape emu ptx core base LINK Threads::Threads m LABEL emulator)
