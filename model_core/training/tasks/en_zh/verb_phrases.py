"""Verbs with tense, negation and auxiliaries: what stands before, in and after the verb."""

from __future__ import annotations

from dataclasses import dataclass

from model_core.training.tasks.chance import Chance
from model_core.training.tasks.en_zh.lexicon import UNKNOWN_TEXT, Time, Verb, times
from model_core.training.tasks.en_zh.phrase import Chinese, English, Phrase, Word, tokens

ADVERBS = {
    "always": "总是",
    "often": "经常",
    "sometimes": "有时",
    "usually": "通常",
    "never": "从不",
    "also": "也",
}
MODALS = {"can": "能", "want": "想", "like": "喜欢", "must": "必须", "should": "应该"}
SHORT_NOT = {
    "do": "don't",
    "does": "doesn't",
    "did": "didn't",
    "will": "won't",
    "is": "isn't",
    "are": "aren't",
    "can": "can't",
}


@dataclass(frozen=True)
class Setting:
    """What is said of the verb: tense ("present", "now", "past", "future" or a modal verb)."""

    tense: str
    negated: bool = False
    adverb: str = ""
    time: Time | None = None

    @property
    def kind(self) -> str:
        """The tense, for the name of a sentence pattern; modal verbs are all of one kind."""
        return "modal" if self.tense in MODALS else self.tense


@dataclass(frozen=True)
class VerbParts:
    """Pieces around a verb. English: auxiliaries, verb. Chinese: before the place, verb, after.

    `at_is_said`: the Chinese before the place ends in 在 already (正在 公园 里 跑步).
    """

    auxiliary: English
    main: English
    before: Chinese
    verb: Chinese
    after: Chinese = ()
    at_is_said: bool = False


def tenses_of(verb: Verb) -> tuple[tuple[float, str], ...]:
    if "stative" in verb.flags:
        return ((66, "present"), (22, "past"), (5, "future"))
    if "result" in verb.flags:
        return ((45, "present"), (30, "past"), (12, "future"), (10, "can"))
    if "seat" in verb.flags:
        return ((50, "present"), (25, "past"), (12, "future"), (10, "want"))
    # "is <UNK>" alone may as well be an adjective
    progressive = 22 if verb.ing and (verb.en != UNKNOWN_TEXT or verb.objects) else 0
    return (
        (46, "present"),
        (progressive, "now"),
        (28, "past"),
        (11, "future"),
        (5, "can"),
        (6, "want"),
        (4, "like"),
        (4, "must"),
        (4, "should"),
    )


def setting_for(chance: Chance, verb: Verb, third: bool) -> Setting:
    """A tense with what goes with it; a time phrase where the tense would not show otherwise."""
    tense = chance.weighted(*tenses_of(verb))
    negated = tense != "must" and chance.happens(0.3 if verb.not_zh else 0.15)
    adverb = ""
    if tense == "present" and not negated and chance.happens(0.3):
        fitting = [
            adverb
            for adverb in ADVERBS
            if adverb == "also"
            or (
                verb.flags.isdisjoint(("stative", "long"))
                and not (adverb == "never" and "result" in verb.flags)
            )
        ]
        adverb = chance.one_of(fitting)
    shows_no_tense = verb.en == UNKNOWN_TEXT or (verb.same_past and not third)
    needs_time = shows_no_tense and not negated and tense in ("present", "past") and not adverb
    may_have_time = adverb in ("", "also") and (
        verb.flags.isdisjoint(("stative", "long")) or tense in ("past", "future")
    )
    time = None
    if needs_time and not (verb.en == UNKNOWN_TEXT and tense == "present"):
        time = chance.one_of([t for t in times(tense) if t.en != "today"])
    elif may_have_time and chance.happens(0.4):
        of_tense = {"like": "habit", "present": "present", "now": "now", "past": "past"}
        fitting_times = times(of_tense.get(tense, "future"))
        if "long" in verb.flags:
            fitting_times = tuple(t for t in fitting_times if t.en.endswith(("week", "year")))
        time = chance.one_of(fitting_times)
    return Setting(tense, negated, adverb, time)


def not_words(chance: Chance, auxiliary: str) -> tuple[English, Word, Word]:
    """ "does not" or "doesn't": all words, the auxiliary among them, the "not" among them."""
    if auxiliary in SHORT_NOT and chance.happens(0.45):
        word = Word(SHORT_NOT[auxiliary])
        return (word,), word, word
    if auxiliary == "can":
        word = Word("cannot")
        return (word,), word, word
    first, second = Word(auxiliary), Word("not")
    return (first, second), first, second


def verb_parts(chance: Chance, verb: Verb, be: str, setting: Setting) -> VerbParts:
    """The verb in its setting; `be` is the subject's form of "to be"."""
    if setting.tense == "now":
        return in_progress(chance, verb, be, setting.negated)
    if setting.tense in ("present", "past"):
        return simple_tense(chance, verb, be == "is", setting)
    if setting.tense == "future":
        return with_auxiliary(chance, verb, "will", "会", setting.negated)
    if setting.tense in ("want", "like"):
        return with_to(chance, verb, setting.tense, be == "is", setting.negated)
    chinese = MODALS[setting.tense]
    if setting.tense == "can" and "skill" in verb.flags:
        chinese = "会"
    return with_auxiliary(chance, verb, setting.tense, chinese, setting.negated)


def meaning(verb: Verb, word: Word) -> Chinese:
    return tokens(verb.zh, word)


def simple_tense(chance: Chance, verb: Verb, third: bool, setting: Setting) -> VerbParts:
    past = setting.tense == "past"
    if setting.negated:
        auxiliary, _, no = not_words(chance, "did" if past else "does" if third else "do")
        word = Word(verb.en)
        return VerbParts(auxiliary, (word,), *denied(verb, word, no, past))
    word = Word(verb.past if past else verb.third if third else verb.en)
    adverb: Phrase = Phrase()
    if setting.adverb:
        first = Word(setting.adverb)
        adverb = Phrase((first,), tokens(ADVERBS[setting.adverb], first))
    plain = past and verb.flags.isdisjoint(("stative", "no_le", "seat"))
    after = tokens("了", word) if plain else ()
    return VerbParts(adverb.english, (word,), adverb.chinese, meaning(verb, word), after)


def denied(verb: Verb, word: Word, no: Word, past: bool) -> tuple[Chinese, Chinese]:
    """不 in the present, 没有 in the past; 没有 alone for "have", 看不见 for "see"."""
    if "have" in verb.flags:
        return (), tokens("没有", no)
    if verb.not_zh and not past:
        return (), tokens(verb.not_zh, word)
    particle = "没有" if past and "stative" not in verb.flags else "不"
    return tokens(particle, no), meaning(verb, word)


def in_progress(chance: Chance, verb: Verb, be: str, negated: bool) -> VerbParts:
    """正在 before the verb; what is worn stays on: 戴 着."""
    word = Word(verb.ing)
    lasting = "lasting" in verb.flags
    if negated:
        auxiliary, be_word, no = not_words(chance, be)
        at = () if lasting else tokens("在", be_word)
        before = tokens("没有", no) + at
        return VerbParts(auxiliary, (word,), before, meaning(verb, word), (), not lasting)
    be_word = Word(be)
    if lasting:
        return VerbParts((be_word,), (word,), (), meaning(verb, word), tokens("着", word))
    return VerbParts((be_word,), (word,), tokens("正在", be_word), meaning(verb, word), (), True)


def with_auxiliary(
    chance: Chance, verb: Verb, english: str, chinese: str, negated: bool
) -> VerbParts:
    word = Word(verb.en)
    if not negated:
        auxiliary = Word(english)
        return VerbParts((auxiliary,), (word,), tokens(chinese, auxiliary), meaning(verb, word))
    words, auxiliary, no = not_words(chance, english)
    if verb.not_zh and english == "can":
        return VerbParts(words, (word,), (), tokens(verb.not_zh, word))
    if "have" in verb.flags:
        return VerbParts(
            words, (word,), tokens("不", no) + tokens(chinese, auxiliary), meaning(verb, word)
        )
    return VerbParts(
        words, (word,), tokens("不", no) + tokens(chinese, auxiliary), meaning(verb, word)
    )


def with_to(chance: Chance, verb: Verb, modal: str, third: bool, negated: bool) -> VerbParts:
    """ "wants to eat": 想 吃; "does not like to eat": 不 喜欢 吃."""
    word = Word(verb.en)
    if negated:
        auxiliary, _, no = not_words(chance, "does" if third else "do")
        wish = Word(modal)
        before = tokens("不", no) + tokens(MODALS[modal], wish)
        return VerbParts((*auxiliary, wish, Word("to")), (word,), before, meaning(verb, word))
    wish = Word(f"{modal}s" if third else modal)
    return VerbParts((wish, Word("to")), (word,), tokens(MODALS[modal], wish), meaning(verb, word))
