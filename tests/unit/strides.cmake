keet_test(strides emu ptx core base LINK Threads::Threads m LABEL emulator)
