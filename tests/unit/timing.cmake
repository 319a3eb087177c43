keet_test(timing device base LINK m LABEL gpu)
