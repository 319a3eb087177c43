keet_test(counters_by_hand LABEL emulator emu ptx core base)
