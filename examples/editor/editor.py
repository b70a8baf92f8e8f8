"""Does with a schema and YAML what an editor does: offers keys, and underlines what is wrong."""

import json
import re
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """Reads as editors do, by YAML 1.2: a date is text, and so are `on` and `yes`."""

    yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in forms if tag.split(":")[-1] not in ("timestamp", "bool")]
        for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile("^(true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


def offered(schema, node):
    """The keys of a mapping that is described by `node`, with what is said of each."""
    if "$ref" in node:
        node = schema["definitions"][node["$ref"].removeprefix("#/definitions/")]
    keys = dict(node.get("properties", {}))
    for part in node.get("allOf", []) + node.get("anyOf", []):
        keys.update(offered(schema, part))
    if "items" in node:
        keys.update(offered(schema, node["items"]))
    return keys


def at(schema, path):
    node = schema
    for name in path:
        node = offered(schema, node)[name]
    return node


def underlined(validator, text):
    for fault in sorted(validator.iter_errors(yaml.load(text, Loader)), key=lambda fault: str(fault.path)):
        # Of alternatives the one that names what may stand there says most.
        choices = [part for part in fault.context or [] if part.validator == "enum"]
        fault = choices[0] if choices else jsonschema.exceptions.best_match([fault])
        place = ".".join(str(part) for part in fault.absolute_path)
        message = fault.message
        if fault.validator == "additionalProperties":
            # The rest of it are the patterns of other spellings of keys.
            message = f"{message.split(' do')[0]} is no key of it"
        yield f"{place or 'the file'}: {message}"


def main(schema_path, catalog_path, *files):
    with open(schema_path) as file:
        schema = json.load(file)
    with open(catalog_path) as file:
        catalog = json.load(file)
    kind = jsonschema.validators.validator_for(schema, default=None)
    kind.check_schema(schema)
    validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
    print(f"{', '.join(catalog['fileMatch'])}: {schema['$schema']}")
    print("named as in the catalogue:", "yes" if schema["$id"] == catalog["url"] else "no")

    print("\noffered:")
    for path in [[], ["segments"], ["segments", "publish"], ["network", "timeouts"]]:
        keys = offered(schema, at(schema, path))
        silent = [name for name, key in keys.items() if not key.get("description")]
        print(f"{'.'.join(path) or 'the file'}: {len(keys)} keys, {len(silent)} without a word")
    layout = offered(schema, at(schema, ["segments", "publish"]))["layout"]
    values = layout.get("enum") or layout["anyOf"][0]["enum"]
    print(f"segments.publish.layout: {layout['description']}: {' '.join(values)}")

    print("\nunderlined:")
    for text in [
        "segmants: []",
        "segments: [{ name: a, url: [] }]",
        "segments: [{ name: a, publish: { dir: out, layuot: url } }]",
        "network: { concurrency: many }",
        "cache: { durability: sometimes }",
        "redirects: { downgrade: perhaps }",
    ]:
        found = list(underlined(validator, text))
        print(f"{text}\n  {found[0] if found else 'nothing'}")

    print("\nread:")
    faults = 0
    for path in files:
        with open(path) as file:
            found = list(underlined(validator, file.read()))
        name = "/".join(path.split("/")[-2:])
        print(f"{name}: {'; '.join(found) or 'nothing to say'}")
        faults += len(found)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
