"""docs/one_step_by_hand.md: its numbers are those of the plain loops and those of the engine."""

from __future__ import annotations

import numpy as np
import pytest

from tests.docs import one_step

pytestmark = pytest.mark.small


def test_the_engine_and_the_plain_loops_agree_on_every_number() -> None:
    expected, found = one_step.by_the_oracle(), one_step.by_the_engine()
    assert expected.keys() == found.keys()
    for name, value in expected.items():
        places = np.s_[1:] if name == "h_0i" else np.s_[...]  # Row 0 of h_0i has no meaning.
        np.testing.assert_allclose(found[name][places], value[places], rtol=1e-11, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("numbers", [one_step.by_the_oracle, one_step.by_the_engine])
def test_the_page_shows_them(numbers: object) -> None:
    page = one_step.PAGE.read_text(encoding="utf-8")
    assert one_step.written(page, one_step.tables(numbers())) == page  # type: ignore[operator]
    assert page.count("<!-- end -->") == len(one_step.tables(one_step.by_the_oracle()))


def test_the_step_is_one_that_training_makes() -> None:
    from glnn.models import GLNN, Params
    from glnn.network import random_graph
    from glnn.sequences import encode
    from glnn.training.trainer import Trainer

    params = Params(one_step.W, one_step.TAU.ravel(), one_step.START)
    trainer = Trainer(GLNN(random_graph(2, 2), 2), encode(one_step.TEXT, alphabet=one_step.SYMBOLS), params)
    info, numbers = trainer.step(), one_step.by_the_oracle()
    assert (info.writing_rate, info.transition_rate) == (one_step.RATE, one_step.RATE)
    assert (info.writing_rejected, info.transition_rejected) == (0, 0)
    assert info.log_likelihood == pytest.approx(float(numbers["L_tau"]), rel=1e-12)
    np.testing.assert_allclose(trainer.progress.params.theta, numbers["tau"].ravel(), rtol=1e-10)
    np.testing.assert_allclose(trainer.progress.params.w, numbers["w"], rtol=1e-10)
