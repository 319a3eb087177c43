conform_test(conform_video)
