"""The en-zh sentences: right Chinese, right alignments, splits that are kept apart."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict

import numpy as np
import pytest

from model_core.tokenizers import WordTokenizer
from model_core.training.datasets import Dataset, Pair, numbered
from model_core.training.tasks import en_zh
from model_core.training.tasks.en_zh import lexicon

SEED = en_zh.recipe.SEED
SPLITS = ("train", "held_out", "unseen_pairs")

# Translations by hand; whichever of them the grammar draws must come out like this.
BY_HAND = {
    "she eats": "她 吃饭",
    "hello": "你 好",
    "thank you": "谢谢 你",
    "good morning children": "早上 好 孩子 们",
    "good night my friend": "晚安 我 的 朋友",
    "the cat": "猫",
    "apples": "苹果",
    "I love you": "我 爱 你",
    "he is tall": "他 很 高",
    "the cat sleeps": "猫 睡觉",
    "they are students": "他们 是 学生",
    "she is a teacher": "她 是 一 位 老师",
    "he is not a doctor": "他 不 是 医生",
    "the boys sing": "男孩 们 唱 歌",
    "boys sing": "男孩 唱 歌",
    "she drinks water": "她 喝 水",
    "what is this": "这 是 什么",
    "who are you": "你 是 谁",
    "are you tired": "你 累 吗",
    "where is he": "他 在 哪里",
    "we do not work": "我们 不 工作",
    "I don't know him": "我 不 认识 他",
    "he did not sleep": "他 没有 睡觉",
    "she will dance": "她 会 跳舞",
    "she can dance": "她 会 跳舞",
    "they can work": "他们 能 工作",
    "the cars are red": "汽车 是 红色 的",
    "it's cute": "它 很 可爱",
    "the dog is running": "狗 正在 跑",
    "the girl is running": "女孩 正在 跑步",
    "I want to sleep": "我 想 睡觉",
    "I am very happy": "我 非常 快乐",
    "it is cold today": "今天 很 冷",
    "he went home": "他 回 家 了",
    "I didn't read": "我 没有 阅读",
    "does she sing": "她 唱 歌 吗",
    "do you play football": "你 踢 足球 吗",
    "I like cats": "我 喜欢 猫",
    "they never sleep": "他们 从不 睡觉",
    "this is a phone": "这 是 一 部 手机",
    "that is a restaurant": "那 是 一 家 餐厅",
    "where does he draw": "他 在 哪里 画 画",
    "where does she sit": "她 坐 在 哪里",
    "what do you write": "你 写 什么",
    "what do you want": "你 想要 什么",
    "what does she read": "她 读 什么",
    "what are they reading": "他们 正在 读 什么",
    "what are you drawing": "你 正在 画 什么",
    "what is on the box": "盒子 上 有 什么",
    "what is on the chair": "椅子 上 有 什么",
    "what is in the library": "图书馆 里 有 什么",
    "who rides a bike": "谁 骑 一 辆 自行车",
    "who are the women": "女人 们 是 谁",
    "we live in the house": "我们 住 在 房子 里",
    "they will not cook": "他们 不 会 做饭",
    "we are going home": "我们 正在 回 家",
    "we are listening to music": "我们 正在 听 音乐",
    "the cakes are white": "蛋糕 是 白色 的",
    "rice is also delicious": "米饭 也 很 好吃",
    "he was very angry": "他 非常 生气",
    "they were sad yesterday": "昨天 他们 很 难过",
    "it was cold yesterday": "昨天 很 冷",
    "the boy watches TV": "男孩 看 电视",
    "there is no bus in the city": "城市 里 没有 公共汽车",
    "she isn't a doctor": "她 不 是 医生",
    "the photos are under the car": "照片 在 汽车 下面",
}

# The Chinese that one English word may have given rise to, whatever the sentence.
DICTIONARY = {
    "cat": "猫 只",
    "cats": "猫 只",
    "he": "他",
    "we": "我们",
    "yesterday": "昨天",
    "tomorrow": "明天",
    "bought": "买 了",
    "loved": "爱",
    "two": "两",
    "many": "很多",
    "very": "非常",
    "often": "经常",
    "and": "和",
    "in": "在 里",
    "on": "在 上",
    "my": "我 的",
    "teacher": "老师 位",
    "teachers": "老师 位 们",
    "horse": "马 匹",
    "book": "书 本",
    "car": "汽车 辆",
    "photo": "照片 张",
    "black": "黑 黑色 的",
    "old": "旧 年老 老 的",
    "wears": "穿 戴",
    "where": "哪里 在",
    "the": "",
    "to": "",
    "of": "",
}

MEASURES = {
    "男孩": "个",
    "女孩": "个",
    "老师": "位",
    "医生": "位",
    "猫": "只",
    "狗": "只",
    "鱼": "条",
    "马": "匹",
    "牛": "头",
    "香蕉": "根",
    "蛋糕": "块",
    "书": "本",
    "信": "封",
    "歌": "首",
    "汽车": "辆",
    "椅子": "把",
    "桌子": "张",
    "床": "张",
    "帽子": "顶",
    "衬衫": "件",
    "裙子": "条",
    "花": "朵",
    "树": "棵",
    "笔": "支",
    "电脑": "台",
    "门": "扇",
    "学校": "所",
    "商店": "家",
    "河": "条",
}
NUMERALS = {"一", "两", "三", "四", "五", "这", "那"}


@pytest.fixture(scope="module")
def data() -> Dataset:
    return en_zh.generate(SEED)


@pytest.fixture(scope="module")
def everything(data: Dataset) -> list[Pair]:
    return [pair for split in SPLITS for pair in data[split]]


@pytest.fixture(scope="module")
def tokenizer(data: Dataset) -> WordTokenizer:
    return WordTokenizer.build(data.texts())


def test_one_english_sentence_has_one_translation(everything: list[Pair]) -> None:
    translations = defaultdict(set)
    for pair in everything:
        if "<UNK>" not in pair.source:
            translations[pair.source_text.lower()].add((pair.target, pair.aligned))
    assert {text: found for text, found in translations.items() if len(found) > 1} == {}


def test_the_chinese_is_what_a_person_would_write(everything: list[Pair]) -> None:
    drawn = {pair.source_text: pair.target_text for pair in everything}
    compared = {text: drawn[text] for text in BY_HAND if text in drawn}
    assert len(compared) >= 25
    assert compared == {text: BY_HAND[text] for text in compared}


def test_words_are_aligned_to_their_own_translation(everything: list[Pair]) -> None:
    found = defaultdict(set)
    for pair in everything:
        for token, position in zip(pair.target, pair.aligned, strict=False):
            if position >= 0:
                found[pair.source[position]].add(token)
    for english, chinese in DICTIONARY.items():
        assert found[english] == set(chinese.split()), english


def test_cats_are_where_the_word_cat_is(everything: list[Pair]) -> None:
    seen = 0
    for pair in everything:
        for token, position in zip(pair.target, pair.aligned, strict=False):
            if token == "猫":
                seen += 1
                assert pair.source[position] in ("cat", "cats")
    assert seen > 300


def test_all_alignments_are_in_range_and_the_end_has_none(
    everything: list[Pair], tokenizer: WordTokenizer
) -> None:
    for pair in everything:
        assert len(pair.aligned) == len(pair.target) + 1
        assert pair.aligned[-1] == -1
        assert min(pair.aligned[:-1]) >= 0, "every Chinese word has an English word behind it"
        assert max(pair.aligned) < len(pair.source)
    prefixed = WordTokenizer.build([("a b", "x y")], source_prefix=True)
    moved = numbered(Pair(("a", "b"), ("x", "y"), (1, 0, -1)), prefixed)
    assert moved == ([1, 4, 5, 2], [4, 5], [2, 1, -1])


def test_counted_nouns_have_their_measure_word(everything: list[Pair]) -> None:
    seen = Counter()
    for pair in everything:
        for position in {a for a in pair.aligned if a >= 0}:
            own = [t for t, a in zip(pair.target, pair.aligned, strict=False) if a == position]
            if len(own) == 2 and own[1] in MEASURES and own[0] in MEASURES.values():
                assert own[0] == MEASURES[own[1]]
                seen[own[1]] += 1
        for before, token in zip(pair.target, pair.target[1:], strict=False):
            assert not (before in NUMERALS and token in MEASURES), pair.target_text
    assert all(seen[noun] for noun in MEASURES)


def test_greedy_cutting_of_the_unspaced_text_gives_back_the_words(
    everything: list[Pair], tokenizer: WordTokenizer
) -> None:
    for pair in everything:
        if "<UNK>" not in pair.target:
            assert tokenizer.encode_target("".join(pair.target)).tokens == list(pair.target)


def test_particles_never_stand_where_chinese_forbids_them(everything: list[Pair]) -> None:
    states = ("喜欢 了", "认识 了", "等待 了", "想要 了", "爱 了", "有 了", "需要 了")
    twice = ("们 们", "的 的", "很 非常", "正在 在", "没有 有")
    denied = ("不 看见", "不 找到", "不 有")
    for pair in everything:
        text = f" {pair.target_text} "
        assert not [wrong for wrong in (*states, *twice, *denied) if f" {wrong} " in text], text


def test_time_comes_first_in_chinese(everything: list[Pair]) -> None:
    times = {"昨天", "昨晚", "明天", "今晚", "上周", "下周", "去年", "明年", "每天", "现在"}
    for pair in everything:
        assert not times & set(pair.target[1:])


def test_examples_and_free_sentences_consist_of_known_words(tokenizer: WordTokenizer) -> None:
    free = en_zh.free_sentences()
    assert len(free) == 50
    assert len({source for source, _ in free}) == 50
    for source in (*en_zh.EXAMPLES, *(source for source, _ in free)):
        assert tokenizer.encode_source(source).unknown == [], source
    for _, references in free:
        assert references
        assert tokenizer.encode_target(references[0]).unknown == [], references


def test_a_new_sentence_follows_from_its_generator_and_knows_all_its_words() -> None:
    first = [en_zh.sentence(np.random.default_rng(number)) for number in range(30)]
    again = [en_zh.sentence(np.random.default_rng(number)) for number in range(30)]
    assert first == again
    assert len(set(first)) > 25
    assert not any("<UNK>" in pair.source for pair in first)


@pytest.mark.parametrize("name", ["adjectives.tsv", "verbs.tsv"])
def test_the_tables_name_only_nouns_and_tags_that_exist(name: str) -> None:
    known = {noun.en for noun in lexicon.nouns()}
    known |= {tag for noun in lexicon.nouns() for tag in noun.tags}
    known |= {"I", "you", "he", "she", "it", "pronoun", "somebody"}
    known |= {"music", "football", "television", "language"}
    with open(lexicon.TABLES / name, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            for column in ("goes_with", "subjects", "objects"):
                assert set(row.get(column, "").split()) <= known, row


def test_a_pair_with_a_wrong_alignment_is_refused() -> None:
    with pytest.raises(ValueError, match="alignments"):
        Pair(("a",), ("x", "y"), (0, 0))
    with pytest.raises(ValueError, match="beyond"):
        Pair(("a",), ("x",), (1, -1))
    with pytest.raises(KeyError, match="held_out"):
        Dataset("task", {"train": [], "held_out": []})["test"]
