keet_test(energy nv core base LINK m LABEL gpu)
