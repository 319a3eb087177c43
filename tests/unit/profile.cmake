keet_test(profile profile device emu ptx core base LINK m)
