"""The outcomes of a finding, in the one text that whoever judges and whoever checks are shown."""

from __future__ import annotations

OUTCOMES = """\
- `met`: this scheme provides all that is asked for.
- `partly`: something is provided and something named is lacking. `statement` tells what is provided, and `lacking`, in one
  sentence, what is not, without repeating it. Either quoted words or policy show the lack (an exception, a smaller figure, a refusal,
  what is left to a later approval), or it was looked for and not found: "We did not find a date for it in conditions 1 to 50." What
  one place promises and another does not secure is such a lack. A detail that neither the question nor policy asks for is none. Where
  nothing is lacking, it is not `partly`.
- `failed`: the words show that it falls short, is refused or is ruled out.
- `contradicted`: two documents, or two places, give different figures or accounts of the same thing, or a sum does not add up,
  whether or not both could be explained: they are to be reconciled. Both sides are quoted. It needs no policy.
- `not_shown`: it applies, and the documents do not settle it.
A possibility ("could be explored", "would be possible in future") is no provision: neither `met` nor `partly`."""
