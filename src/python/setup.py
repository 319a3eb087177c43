"""Says that the wheel holds programs: it is of one platform."""
from setuptools import setup
from setuptools.dist import Distribution


class WithPrograms(Distribution):
    def has_ext_modules(self):
        return True


setup(distclass=WithPrograms)
