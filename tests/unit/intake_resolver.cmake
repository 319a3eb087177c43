keet_test(intake_resolver intake core base LINK m)
