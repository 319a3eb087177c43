keet_test(tensor_shapes emu ptx core base LINK Threads::Threads m LABEL emulator)
