keet_test(sanitize emu core base LABEL emulator)
