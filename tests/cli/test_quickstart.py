from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.runs.directory import read_run


def test_the_main_job_in_one_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["quickstart"]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()[:3]] == ["bleu", "before", "after"]
    assert "hopefear tune --nbest hopefear-quickstart/data/nbest.txt --refs" in err
    final = read_run("hopefear-quickstart/run").final
    for part in ("dev", "holdout"):
        assert final["before"][part]["bleu"] + 3 < final[part]["bleu"]
    assert main(["quickstart", "--quiet"]) == 0  # again, in the same place
    assert capsys.readouterr() == (out, "")
