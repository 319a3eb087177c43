"""Short runs to export from, and their exports."""
import os
import subprocess


def run(keet, kernel, folder, budget):
    db = os.path.join(folder, os.path.basename(kernel).removesuffix(".cu") + ".keet.db")
    subprocess.run([keet, kernel, "--device", "emu", "--budget", str(budget), "--db", db, "-q",
                    "-o", os.path.join(folder, "best.cu")], check=True, stdout=subprocess.DEVNULL)
    return db


def export(keet, db, name, output=None):
    """The paths that it says it wrote."""
    told = subprocess.run([keet, "export", db, "--as", name, *(["-o", output] if output else [])],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    return told.split("\n")[:-1]


def refused(keet, db, name):
    """Its error."""
    done = subprocess.run([keet, "export", db, "--as", name], stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0, f"{name} was exported"
    return done.stderr
