keet_test(metrics_map nv core base LINK m LABEL gpu)
