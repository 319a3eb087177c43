keet_test(report_escape report core base LABEL campaign LINK PkgConfig::JANSSON)
