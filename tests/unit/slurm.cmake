keet_test(slurm campaign base LABEL "slurm;campaign")
