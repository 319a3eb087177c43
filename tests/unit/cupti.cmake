keet_test(cupti nv core base LINK m LABEL gpu)
