keet_test(store store core base LINK PkgConfig::SQLITE3 m)
