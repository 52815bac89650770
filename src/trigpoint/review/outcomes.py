"""The outcomes of a finding, in the one text that whoever judges and whoever checks are shown."""

from __future__ import annotations

OUTCOMES = """\
- `met`: this scheme provides what is asked for, all of it. More could always be wished: that something could be better, longer,
  earlier, safeguarded further or described in more detail does not make it less than met. But words elsewhere that limit it do: for
  some users or hours only, later, if money is found, by a way that people could not use. A standard is met within its own limits
  only (one "for up to 300 an hour" says nothing about 420), and not by figures of today if the scheme changes them. A wide question
  (off-site works, connections on every side) is not met by one good thing among several: that is a finding without a question.
- `partly`: something is provided, and something that is asked for is lacking. `statement` tells what is provided, and `lacking`, in one
  sentence, what is not, without repeating it. Either quoted words or policy show the lack (an exception, a part that has less, a
  refusal), or it was looked for and not found: "We did not find a date for it in conditions 1 to 50." What one place promises
  and the conditions or obligations do not secure is such a lack, and so is a promise that a later document cuts. A condition that
  asks for details only, or leaves the standard open ("where appropriate"), secures no more than that. One that ties the
  development to drawings or documents secures what these show: then only a date, or what they leave open, may be lacking.
- `failed`: the words show that it falls short, by a figure or altogether, is refused or is ruled out.
- `contradicted`: two documents, or two places, give different figures or accounts of the same thing, or a sum does not add up, and
  nothing in the documents explains it. Both sides are quoted. It needs no policy. Figures of different things, parts, days or stages
  do not contradict each other, nor does a later document that replaces an earlier one: that something was cut is told as such.
- `noted`: the words are true and matter to the decision, and no verdict follows from them: a consultee's reasoned request that is
  refused, cut or not taken up, a claim that is not borne out, a figure that may or may not be of the same thing as another, an
  offer that nobody has to keep. `statement` tells who says or asks what, what the scheme does, and what is notable about it: "says
  that …, yet …", "is used to conclude …, although …", or the figure that results.
- `not_shown`: it applies, and it was looked for and not found.
A shortfall (`partly`, `failed`) needs somebody who asks for what is missing, and you must be able to point at the words: policy or
a standard that is quoted; a promise of the applicant's; a condition. A question says where to look, not what has to be there. If only the
question asks for it, an objector or consultee wishes it, policy has it as a general aim, or you know it as good practice, it is `noted`.
What a later document, a condition or an obligation provides, replaces or withdraws counts as it is now, not as it was. What an
outline application leaves to reserved matters is not lacking for that reason alone. Between two kinds of shortfall do not hesitate
long: `failed` if it falls short as a whole, `partly` if some of it is there.
A possibility ("could be explored", "would be possible in future") is no provision: neither `met` nor `partly`. Nor is a claim of the
applicant's without anything that provides it."""
