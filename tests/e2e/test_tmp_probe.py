import json, pytest
from test_families import *
pytestmark = [pytest.mark.engine, pytest.mark.timeout(500)]
def test_probe(tmp_path, charts):
    with deployed("prod-aws", tmp_path, charts, edit=aws, bring=system_nodes) as stack:
        begin(stack, "production", ["m7i.*", "g6e.*", "g6.*", "inf2.*"])
        for r in stack.engine.export()["resources"]:
            if "karpenter" in r["type"] and "kubernetes" in r["type"]: print("R", json.dumps({k: v for k, v in r.items() if k not in ("outputs",)})[:3000]); print("O", json.dumps(r["outputs"])[:3500])
            if r.get("refreshBeforeUpdate") or r.get("initErrors"): print("X", r["urn"], r.get("initErrors"))
        assert False
