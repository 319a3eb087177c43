keet_test(ptx_parse ptx base)
