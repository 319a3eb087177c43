keet_test(compile_text compile nv core base)
