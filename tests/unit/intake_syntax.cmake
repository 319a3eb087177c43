keet_test(intake_syntax intake core base LINK m)
