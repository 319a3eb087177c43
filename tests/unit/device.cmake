keet_test(device device emu core base)
