# real_tool NAME, for the tools beside this file: sets `real` to the toolkit's, empty where there is none. `here` is this folder.
real_tool()
{
    real=
    IFS=:
    for folder in $PATH "${KEET_CUDA:+$KEET_CUDA/bin}" "${CUDA_HOME:+$CUDA_HOME/bin}" /usr/local/cuda/bin; do
        if [ -n "$folder" ] && [ -x "$folder/$1" ] && [ "$(cd "$folder" && pwd)" != "$here" ]; then
            real=$folder/$1
            break
        fi
    done
    unset IFS
}
