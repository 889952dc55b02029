"""What a run's results depend on, as seven hashes.

Two runs whose hashes are equal were asked the same things in the same world and judged by the same
rules. The model's own share, its profile, is hashed where profiles live.
"""

from __future__ import annotations

from collections.abc import Sequence

from fc_eval.domains.protocol import DEFAULT_LINK, Domain
from fc_eval.judge.verdict import judge_rules_digest
from fc_eval.records.case import Case
from fc_eval.records.codec import canonical, digest
from fc_eval.records.run import InputHashes


def hash_inputs(cases: Sequence[Case], domain: Domain, model_config: str | None) -> InputHashes:
    """Hash everything that a verdict depends on.

    Args:
        cases: All cases of the suite, selected or not, in their written order.
        domain: What they play in.
        model_config: The digest of the model profile, None where no model is asked.

    Returns:
        The hashes; one is None where the suite has no such input.
    """
    return InputHashes(
        cases=digest([case.to_dict() for case in cases]) if cases else None,
        tools=_tools_digest(domain),
        database=_database_digest(domain),
        policy=domain.policy_digest,
        system_prompt=domain.system_prompt_digest if domain.system_prompt else None,
        model_config=model_config,
        judge_rules=judge_rules_digest(),
    )


def _tools_digest(domain: Domain) -> str:
    # The link decides which confirm belongs to which request, so it is part of what tools mean.
    if domain.link == DEFAULT_LINK:
        return domain.toolset.digest
    return digest([domain.toolset.digest, domain.link])


def _database_digest(domain: Domain) -> str | None:
    if domain.database_digest is not None or not domain.known_ids:
        return domain.database_digest
    # A domain without fixture files still has identifiers that verdicts rest on.
    return digest({name: sorted(map(canonical, ids)) for name, ids in domain.known_ids.items()})
