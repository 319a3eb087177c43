conform_test(conform_warp)
