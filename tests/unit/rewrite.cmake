keet_test(rewrite propose compile check device profile core base TIMEOUT 300)
