keet_test(counters_by_hand LABEL "loop;emulator" emu ptx core base)
