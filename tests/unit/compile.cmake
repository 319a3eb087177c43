keet_test(compile compile nv core base)
