"""Says of each line of DOCUMENTS whether SCHEMA takes it: 1 or 0, in one line of output."""
import json
import sys

import jsonschema

schema, documents = sys.argv[1:]
with open(schema, encoding="utf-8") as file:
    rules = json.load(file)
judge = jsonschema.validators.validator_for(rules)
judge.check_schema(rules)
takes = judge(rules).is_valid
with open(documents, encoding="utf-8") as file:
    print("".join("01"[takes(json.loads(line))] for line in file))
