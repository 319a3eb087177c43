# For bench scripts that write a table of costs: to be sourced, with their arguments.
#
#   cost_table TARGET [ARGUMENT...] <HEAD    writes $out/cost.md: the head, and what TARGET prints
#
# In the head, @COMMIT FOLDER... @ is the commit of these folders, and @PROCESSOR@ the processor's name.
out=results/$(basename "$0" .sh)
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=$2; shift 2 ;;
    *) echo "$(basename "$0"): unknown option $1; see the head of the file" >&2; exit 2 ;;
    esac
done

cost_table()
{
    local target=$1 head
    shift
    head=$(cat)
    ./setup.sh --run
    cmake --preset release >/dev/null
    cmake --build --preset release --target "$target" >/dev/null
    mkdir -p "$out"
    python3 - "$head" <<'PY' >"$out/cost.part"
import re
import sys
sys.path.insert(0, "bench")
import stamp
text = sys.argv[1].replace("@PROCESSOR@", stamp.cpuinfo().get("model name", "unknown"))
print(re.sub("@COMMIT (.*?)@", lambda found: stamp.commit(*found[1].split()), text))
PY
    "./build/release/$target" "$@" >>"$out/cost.part"
    mv "$out/cost.part" "$out/cost.md"
    echo "wrote $out/cost.md"
}
