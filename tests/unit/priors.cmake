keet_test(priors explain core base LINK m LABEL explain)
