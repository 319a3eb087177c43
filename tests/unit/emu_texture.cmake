keet_test(emu_texture emu ptx core base LINK Threads::Threads m LABEL emulator)
