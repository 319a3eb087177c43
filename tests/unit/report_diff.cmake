keet_test(report_diff report core base)
