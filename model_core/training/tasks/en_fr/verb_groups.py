"""What stands between subject and object: tense, "not", the pronoun in front of the verb."""

from __future__ import annotations

from typing import NamedTuple

from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_fr.lexicon import TIMES, Verb
from model_core.training.tasks.en_fr.noun_phrases import OBJECT_PRONOUNS, NounPhrase
from model_core.training.tasks.en_fr.phrase import English, French, Word, words

# The forms of "to have", "to go", "to want", "can" and "to be" for I, you, he, we, they.
HAVE = ("ai", "as", "a", "avons", "ont")
GO = ("vais", "vas", "va", "allons", "vont")
WANT = ("veux", "veux", "veut", "voulons", "veulent")
CAN = ("peux", "peux", "peut", "pouvons", "peuvent")
BE = ("suis", "es", "est", "sommes", "sont")
WAS = ("étais", "étais", "était", "étions", "étaient")

SHORT_NOT = {
    "do": "don't",
    "does": "doesn't",
    "did": "didn't",
    "is": "isn't",
    "are": "aren't",
    "will": "won't",
    "was": "wasn't",
    "were": "weren't",
}
SHORTENED = 0.25


class Setting(NamedTuple):
    """How a sentence is told: tense (present, now, past, future, going, want, can), denied or not.

    time: its time phrase in English and French, with the numbers of the words it is from.
    """

    tense: str
    negated: bool = False
    time: tuple[str, str] | None = None

    @property
    def kind(self) -> str:
        return f"{self.tense} denied" if self.negated else self.tense


class VerbGroup(NamedTuple):
    """English with the object's place open, and the French verb with all that clings to it."""

    english: English
    particle: English
    french: French


def time_for(chance: Chance, tense: str, share: float) -> tuple[str, str] | None:
    known = TIMES.get("future" if tense == "going" else tense)
    return chance.one_of(known) if known and chance.happens(share) else None


def setting_for(
    chance: Chance, verb: Verb, subject: NounPhrase, *, pronoun: bool = False
) -> Setting:
    """A setting that this verb allows; not the past where a pronoun would change the participle."""
    tenses = [(45.0, "present"), (6.0, "want"), (6.0, "can"), (10.0, "future"), (6.0, "going")]
    if verb.liking or verb.infinitive in ("avoir", "vouloir", "connaître"):
        tenses = [(1.0, "present")]
    if verb.ing:
        tenses.append((16.0, "now"))
    if verb.past and not pronoun:
        tenses.append((26.0, "past"))
    tense = chance.weighted(*tenses)
    negated = chance.happens(0.2)
    time = time_for(chance, tense, 0.0 if verb.liking or not verb.participle else 0.3)
    if verb.same_past and not negated and tense in ("present", "past") and time is None:
        if tense == "past" or not subject.third:
            time = time_for(chance, tense, 1.0)
    return Setting(tense, negated, time)


def denied(chance: Chance, auxiliary: str, negated: bool) -> tuple[English, Word | None]:
    """The auxiliary, with "not" behind it or melted into it; the word that denies."""
    if not negated:
        return words(auxiliary), None
    if auxiliary == "can":
        text = "can't" if chance.happens(SHORTENED) else "cannot"
        word = Word(text)
        return (word,), word
    if auxiliary in SHORT_NOT and chance.happens(SHORTENED):
        word = Word(SHORT_NOT[auxiliary])
        return (word,), word
    said = words(f"{auxiliary} not")
    return said, said[-1]


def around(finite: tuple[str, Word], clitic: French, no: Word | None) -> French:
    """ "ne" and "pas" around the finite verb and the pronoun that clings to it."""
    if no is None:
        return (*clitic, finite)
    return (("ne", no), *clitic, finite, ("pas", no))


def verb_group(
    chance: Chance, verb: Verb, subject: NounPhrase, setting: Setting, pronoun: str = ""
) -> VerbGroup:
    """The verb in its setting; `pronoun` is the English object pronoun, if there is one."""
    object_word = Word(pronoun)
    clitic: French = ((OBJECT_PRONOUNS[pronoun], object_word),) if pronoun else ()
    person, tense = subject.person, setting.tense
    third, be = subject.third, subject.be
    do = "does" if third else "do"
    first, *behind = verb.en.split()
    particle = tuple(map(Word, behind))
    main = Word(first)
    infinitive = (*clitic, (verb.infinitive, main))
    if tense == "now":
        english, no = denied(chance, be, setting.negated)
        main = Word(verb.ing.split()[0])
        english = (*english, main)
        french = around((verb.forms[person], main), clitic, no)
    elif tense in ("present", "past"):
        past = tense == "past"
        no = None
        if setting.negated:
            english, no = denied(chance, "did" if past else do, True)
            english = (*english, main)
        else:
            form = verb.past if past else verb.third if third else verb.en
            main = Word(form.split()[0])
            english = (main,)
        finite = HAVE[person] if past else verb.forms[person]
        french = around((finite, main), clitic, no)
        if past:
            french = (*french, (verb.participle, main))
    elif tense == "want":
        english, no = denied(chance, do, True) if setting.negated else ((), None)
        want = Word("wants" if third and not setting.negated else "want")
        english = (*english, want, Word("to"), main)
        french = (*around((WANT[person], want), (), no), *infinitive)
    elif tense == "going":
        english, no = denied(chance, be, setting.negated)
        going = Word("going")
        english = (*english, going, Word("to"), main)
        french = (*around((GO[person], going), (), no), *infinitive)
    else:
        auxiliary = "will" if tense == "future" else "can"
        english, no = denied(chance, auxiliary, setting.negated)
        finite = (GO if tense == "future" else CAN)[person]
        french = (*around((finite, english[0]), (), no), *infinitive)
        english = (*english, main)
    if pronoun:
        particle = (*particle, object_word)
    return VerbGroup(english, particle, french)


def in_time(time: tuple[str, str]) -> tuple[English, French]:
    """A time phrase in both languages."""
    english = words(time[0])
    parts = (part.split(":") for part in time[1].split())
    return english, tuple((token, english[int(number)]) for token, number in parts)


def timed(
    chance: Chance, setting: Setting, english: English, french: French
) -> tuple[English, French]:
    """The sentence with its time phrase, in both languages in front or at the end."""
    if setting.time is None:
        return english, french
    time, temps = in_time(setting.time)
    if chance.happens(0.3):
        return time + english, temps + french
    return english + time, french + temps
