keet_test(counters_by_hand LABEL loop emu ptx core base)
