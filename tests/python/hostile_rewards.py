"""Each reply of tests/hostile/replies.py gets a reward within the limit, and the helpers go on."""
import sys
import time
from pathlib import Path

import keet

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hostile"))
import replies  # noqa: E402

LIMIT_S = 120
ORIGINAL = replies.CONTRACT + "\n" + replies.KERNEL
GOOD = f"```cuda\n{ORIGINAL}```\n"


def main():
    kept = keet.Keet(processes=1, limit_s=LIMIT_S)
    failed = 0
    for name, text in replies.REPLIES:
        began = time.monotonic()
        reward = kept.reward(ORIGINAL, text() if callable(text) else text)
        took = time.monotonic() - began
        again = kept.reward(ORIGINAL, GOOD)
        good = took < LIMIT_S + 20 and reward.feedback and again.ok
        failed += not good
        print(f"{'' if good else 'FAILED '}{name}: {reward.verdict}, {took:.1f} s", flush=True)
    return 1 if failed or len(replies.REPLIES) < 50 else 0


sys.exit(main())
