"""What was measured, as lines of JSON, so that an interrupted run goes on and a table can be written later."""

import datetime
import json
import os


class Records:
    """The finished workloads of one program on one machine; those of others are left as they are."""

    def __init__(self, path, run):
        self.path, self.run, self.groups = path, run, {}
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a+") as file:
            file.seek(0)
            text = file.read()
            # An interrupted run may have left half a line.
            if text and not text.endswith("\n"):
                file.write("\n")
        for line in text.splitlines():
            self._remember(line)

    def _remember(self, line):
        try:
            record = json.loads(line)
        except ValueError:
            return
        if record.items() >= self.run.items():
            self.groups.setdefault(record["workload"], {}).setdefault(record["taken"], []).append(record)

    def add(self, records):
        """Keeps the records of a workload, and returns them as they are kept."""
        taken = datetime.datetime.now().isoformat(timespec="seconds")
        lines = [json.dumps(record | self.run | {"taken": taken}, ensure_ascii=False) for record in records]
        with open(self.path, "a") as file:
            file.write("\n".join(lines) + "\n")
        for line in lines:
            self._remember(line)
        return self.groups[records[0]["workload"]][taken]

    def found(self, group, lines, rounds):
        """The newest records in which every side of the lines has its rounds, or cannot have them."""
        wanted = {side for line in lines for side in line.sides if side in group.sides}
        for _, records in sorted(self.groups.get(group.workload, {}).items(), reverse=True):
            rounded = {record["side"] for record in records if record["round"] >= rounds - group.is_slow}
            excused = {record["side"] for record in records if record.get("kind") in ("skipped", "gave up")}
            if wanted <= rounded | excused:
                return records
        return None
