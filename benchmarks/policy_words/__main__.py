"""Print the scores of both halves."""

from benchmarks.policy_words import score

for half in ("first", "second"):
    right, wrong, left_out, missed = score(half)
    print(f"{half}: right {right}, wrong {wrong}, cited without words {left_out}")
    print("\n".join(f"  {one}" for one in missed))
