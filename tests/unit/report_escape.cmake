keet_test(report_escape LABEL campaign report core base)
