"""Export a model for Moses' chart decoder or for cdec.

Writes rules, glue rules, language models, weights and settings. A derivation keeps its model score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopefear.commands.base import Command, arg

if TYPE_CHECKING:
    from hopefear.runs.session import Session


class Export(Command[str]):
    model: str = arg("The model.", positional=True, kw_only=False, file=True, folder=True, metavar="MODEL")
    format: str = arg("The program to write files for.", choices=("cdec", "moses"))
    out: str = arg("The folder to create.", metavar="FOLDER")
    weights: str | None = arg("Weights in place of the model's own.", default=None, file=True)

    examples = """
    hopefear export model --format moses --out moses
    hopefear export model --format cdec --weights run/weights.txt --out cdec
    """
    python = """
    >>> hf.export("translator", format="cdec", out="cdec")
    'cdec'
    """

    def run(self, session: Session) -> str:
        from hopefear.formats.weights import check_names, read_weights
        from hopefear.model.directory import Model
        from hopefear.model.imported import export_model

        model = Model.open(self.model, jobs=self.jobs)
        weights = None
        if self.weights:
            weights = read_weights(self.weights)
            whose = f"{self.model}. Use the weights of this model"
            missing = "that the model does not have"
            session.warn(check_names(self.weights, weights, model.feature_names, missing, whose))
        export_model(model, self.format, self.out, weights)
        return self.out
