keet_test(time emu ptx core base LINK m)
