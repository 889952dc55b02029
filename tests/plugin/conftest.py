"""What a session with cases loads, loaded once.

`pytester` forgets the modules that an inner session imports, so each would import them anew.
"""

from __future__ import annotations

import deepdiff  # noqa: F401 - loaded for the inner sessions
import hypothesis  # noqa: F401 - its plugin loads it at the end of each session
import jsonschema  # noqa: F401 - likewise

import fc_eval.client.embedded
import fc_eval.client.openai
import fc_eval.plugin.bfcl_suite
import fc_eval.plugin.collect
import fc_eval.plugin.commands
import fc_eval.plugin.runner
import fc_eval.plugin.running  # noqa: F401 - likewise
