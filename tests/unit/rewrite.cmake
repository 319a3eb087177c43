keet_test(rewrite propose compile core base TIMEOUT 120)
