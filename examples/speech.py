"""Lattices of a real recogniser, without any data but what PyPI has: the example of docs/speech.md.

pip install pocketsphinx espeakng-loader numpy
python speech.py FOLDER [--utterances 160] [--noise 0.003]

A grammar of a few words makes sentences, espeak-ng speaks them in several voices, noise is added, and PocketSphinx,
whose wheel carries a model of English, writes a lattice of each to FOLDER/{dev,test}/*.slf and what was said to
FOLDER/{dev,test}.text. FOLDER/lm.text has other sentences of the grammar, for a language model.
"""

import argparse
import ctypes
import random
import time
from pathlib import Path

import espeakng_loader
import numpy as np
import pocketsphinx

PARTS = {
    "the": "the,a,that,his,her,their,our,my",
    "adjective": "old,young,small,heavy,yellow,quiet,broken,wooden,famous,hungry,gentle,empty",
    "noun": "farmer,doctor,window,garden,river,mountain,letter,teacher,kitchen,horse,village,soldier",
    "verb": "opened,watched,carried,painted,followed,remembered,crossed,wanted,visited,forgot",
    "place": "near,behind,under,beside,above,against,through",
    "time": "yesterday,in the morning,last winter,every evening,before the war,after dinner,on sunday",
}
ORDER = ("the", "adjective", "noun", "verb", "the", "noun", "place", "the", "noun")
VOICES = ["en-us", "en-gb", "en-gb-scotland", "en-us+f3", "en-us+m3", "en-gb+f2"]


def sentence(choose: random.Random) -> str:
    words = [choose.choice(PARTS[name].split(",")) for name in ORDER]
    return " ".join([*words, *([choose.choice(PARTS["time"].split(","))] if choose.random() < 0.7 else [])])


class Voice:
    """espeak-ng by way of its library."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(espeakng_loader.get_library_path())
        self.rate = self.library.espeak_Initialize(1, 0, espeakng_loader.get_data_path().encode(), 0)
        self.samples: list[bytes] = []
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
        self.callback = kind(self._hear)
        self.library.espeak_SetSynthCallback(self.callback)

    def _hear(self, samples: "ctypes._Pointer[ctypes.c_short]", count: int, _: object) -> int:
        if samples and count:
            self.samples.append(ctypes.string_at(samples, 2 * count))
        return 0

    def say(self, text: str, voice: str, speed: int) -> np.ndarray:
        """16 kHz, as the model wants it."""
        self.samples.clear()
        self.library.espeak_SetVoiceByName(voice.encode())
        self.library.espeak_SetParameter(1, speed, 0)
        said = text.encode() + b"\0"
        self.library.espeak_Synth(said, len(said), 0, 0, 0, 1, None, None)
        self.library.espeak_Synchronize()
        sound = np.frombuffer(b"".join(self.samples), dtype=np.int16).astype(np.float64) / 32768
        times = np.arange(int(len(sound) * 16000 / self.rate)) * self.rate / 16000
        return np.interp(times, np.arange(len(sound)), sound)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--utterances", type=int, default=160)
    parser.add_argument("--noise", type=float, default=0.003)
    options = parser.parse_args()
    choose, noise = random.Random(1), np.random.default_rng(1)
    options.folder.mkdir(parents=True, exist_ok=True)
    others = random.Random(2)
    (options.folder / "lm.text").write_text("".join(f"{sentence(others)}\n" for _ in range(2000)))
    voice, decoder = Voice(), pocketsphinx.Decoder(loglevel="ERROR", beam=1e-42, wbeam=1e-20, pbeam=1e-42)
    begun = time.process_time()
    for part in ("dev", "test"):
        (options.folder / part).mkdir(parents=True, exist_ok=True)
        lines = []
        for number in range(options.utterances // 2):
            text = sentence(choose)
            sound = voice.say(text, choose.choice(VOICES), choose.randint(150, 200))
            sound = np.concatenate([np.zeros(4000), sound, np.zeros(4000)])
            sound += noise.normal(0, options.noise, len(sound))
            decoder.start_utt()
            decoder.process_raw((np.clip(sound, -1, 1) * 32767).astype(np.int16).tobytes(), full_utt=True)
            decoder.end_utt()
            lattice = decoder.get_lattice()
            if lattice is None:
                continue
            lattice.write_htk(str(options.folder / part / f"{part}{number:03}.slf"))
            best = decoder.hyp().hypstr if decoder.hyp() else ""
            lines.append((f"{part}{number:03}", text, best))
        for what, column in (("text", 1), ("best", 2)):
            table = "".join(f"{line[0]} {line[column]}\n" for line in lines)
            (options.folder / f"{part}.{what}").write_text(table)
        print(f"{part}: {len(lines)} lattices, {time.process_time() - begun:.0f} CPU s so far")


if __name__ == "__main__":
    main()
