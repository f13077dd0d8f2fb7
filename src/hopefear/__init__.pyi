__version__: str

from hopefear._core import Derivation as Derivation, Forest as Forest, Pool as Pool, Vocab as Vocab, merged as merged
from hopefear.api import (
    add_features as add_features,
    combine as combine,
    compare as compare,
    convert as convert,
    create as create,
    export as export,
    features as features,
    generate as generate,
    import_ as import_,
    inspect as inspect,
    pack as pack,
    report as report,
    rerank as rerank,
    score as score,
    tune as tune,
    weigh as weigh,
)
from hopefear.decode import Blocks as Blocks, Hiero as Hiero, rescore as rescore
from hopefear.decode.consensus import best_by_consensus as best_by_consensus
from hopefear.decode.evidence import Evidence as Evidence
from hopefear.decode.forced import Forced as Forced
from hopefear.decode.functions import Edge as Edge, with_functions as with_functions
from hopefear.errors import InputError as InputError
from hopefear.formats import (
    iter_nbest as iter_nbest,
    read_forests as read_forests,
    read_nbest as read_nbest,
    read_references as read_references,
    read_weights as read_weights,
    write_forests as write_forests,
    write_nbest as write_nbest,
    write_weights as write_weights,
)
from hopefear.metrics import (
    Bleu as Bleu,
    Chrf as Chrf,
    External as External,
    FBeta as FBeta,
    Map as Map,
    Mrr as Mrr,
    Ndcg as Ndcg,
    OracleDocument as OracleDocument,
    Precision as Precision,
    Rate as Rate,
    Recall as Recall,
    RecallAt as RecallAt,
    RougeS as RougeS,
    Ter as Ter,
    Wer as Wer,
)
from hopefear.metrics.custom import CustomMetric as CustomMetric
from hopefear.model import (
    BuildOptions as BuildOptions,
    Grammar as Grammar,
    Model as Model,
    TextPipeline as TextPipeline,
    build as build,
    read_grammar as read_grammar,
)
from hopefear.model.language_model import LanguageModel as LanguageModel
from hopefear.reranker import Reranker as Reranker, load as load
from hopefear.runs import Run as Run, Session as Session, read_run as read_run
from hopefear.trainers.auto import Auto as Auto
from hopefear.trainers.bagged import Bagged as Bagged
from hopefear.trainers.batch.cmira import Cmira as Cmira
from hopefear.trainers.batch.kbmira import Kbmira as Kbmira
from hopefear.trainers.batch.logloss import Logloss as Logloss
from hopefear.trainers.batch.mert import Mert as Mert
from hopefear.trainers.batch.minrisk import Minrisk as Minrisk
from hopefear.trainers.batch.pa import Pa as Pa
from hopefear.trainers.batch.perceptron import Perceptron as Perceptron
from hopefear.trainers.batch.pro import Pro as Pro
from hopefear.trainers.batch.rampion import Rampion as Rampion
from hopefear.trainers.blocks.costmargin import Costmargin as Costmargin
from hopefear.trainers.data import Corpus as Corpus, Task as Task
from hopefear.trainers.online.arow import Arow as Arow
from hopefear.trainers.online.minrisk import OnlineMinrisk as OnlineMinrisk
from hopefear.trainers.online.mira import Mira as Mira
from hopefear.trainers.online.perceptron import OnlinePerceptron as OnlinePerceptron
from hopefear.trainers.online.sgd import Sgd as Sgd
from hopefear.translator.glossary import Term as Term
from hopefear.translator.translator import Translator as Translator
