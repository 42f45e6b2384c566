#!/usr/bin/env python3
"""Regenerates several files and lists them with their receipts: step.py OUT_FOLDER INPUT..."""
import json
import subprocess
import sys


def regenerate(jobs, *flags):
    """Runs jobs and returns the result: exitCode, and for each file its status, output, receipt and error."""
    run = subprocess.run(["voxmux", "step", "-", *flags], input=json.dumps(jobs), stdout=subprocess.PIPE, text=True)
    return json.loads(run.stdout.splitlines()[-1])


out, *inputs = sys.argv[1:]
result = regenerate([{"input": path, "output": out + "/", "preset": "podcast"} for path in inputs])
for file in result["files"]:
    if file["status"] in ("done", "skipped"):
        with open(file["receipt"]) as receipt:
            print(file["output"], json.load(receipt)["output"]["sha256"])
    elif file["status"] == "pending":
        print(file["input"], "is still running: run this again", file=sys.stderr)
    else:
        print(file["input"], file["error"]["code"], file["error"]["message"], file=sys.stderr)
sys.exit(result["exitCode"])
