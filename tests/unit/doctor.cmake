keet_test(doctor base LINK PkgConfig::JANSSON LABEL gpu)
