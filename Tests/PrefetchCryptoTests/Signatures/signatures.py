#!/usr/bin/env python3
"""What botocore signs twenty requests to a bucket with, as `signatures.json` beside it has it."""
import datetime
import json

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

NOW = datetime.datetime(2026, 11, 24, 8, 9, 10)
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


class Then(datetime.datetime):
    @classmethod
    def utcnow(cls):
        return NOW

    @classmethod
    def now(cls, tz=None):
        return NOW


Time = type("Time", (), {"datetime": Then, "timezone": datetime.timezone})
botocore.auth.datetime = Time
if hasattr(botocore.auth, "get_current_datetime"):
    botocore.auth.get_current_datetime = lambda *_: NOW

HEX = "ab" * 32
REQUESTS = [
    ("GET", "http://bucket.example/cas/" + HEX, {}, b"", None, "us-east-1"),
    ("HEAD", "http://bucket.example/cas/" + HEX, {}, b"", None, "us-east-1"),
    ("PUT", "http://bucket.example/cas/" + HEX, {}, b"a body", None, "us-east-1"),
    ("PUT", "http://bucket.example/cas/" + HEX, {}, b"", None, "us-east-1"),
    ("PUT", "http://bucket.example:9000/b/ac/" + HEX, {"Content-Type": "application/json"}, b"{}", None, "eu-central-1"),
    ("GET", "http://bucket.example/a%20b/c%2Bd/" + HEX, {}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/key=value/" + HEX, {}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/key%3Dvalue/" + HEX, {}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/%C3%A9t%C3%A9/" + HEX, {}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/a//b/./c/../" + HEX, {}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/", {}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/?list-type=2&prefix=cas%2F", {}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/?b=2&a=1&a-b=3&a=0", {}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/?acl", {}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/x?empty=&y=%20z", {}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/x", {"X-Team": "  two   words "}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/x", {"If-None-Match": '"tag"', "Range": "bytes=0-9"}, b"", None, "us-east-1"),
    ("GET", "http://bucket.example/x", {}, b"", "FwoGZXIvYXdzE/session==", "us-east-1"),
    ("PUT", "http://bucket.example/~user/x-._~", {}, bytes(range(256)), "token", "ap-southeast-2"),
    ("GET", "http://127.0.0.1:8080/bucket/x", {}, b"", None, "auto"),
]

answers = []
for method, url, headers, body, token, region in REQUESTS:
    request = AWSRequest(method, url, headers=dict(headers), data=body)
    request.context["payload_signing_enabled"] = True
    botocore.auth.S3SigV4Auth(Credentials("AKIDEXAMPLE", SECRET, token), "s3", region).add_auth(request)
    answers.append(
        {
            "method": method,
            "url": url,
            "headers": headers,
            "body": body.hex(),
            "token": token,
            "region": region,
            "authorization": request.headers["Authorization"],
        }
    )
print(json.dumps(answers, indent=1))
