#!/usr/bin/env python3
"""The server with the protocol's Python SDK as the client, in both eras: everything listed, every tool called, answers
checked against the schemas that the server gives, errors, progress, cancellation.

usage: sdk.py KEET_OPT ROOT"""
import asyncio
import os
import tempfile

import anyio
import jsonschema
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from server import SCALE as SMALL, arguments, check, write

# So many blocks that the rate at which they start tells block sizes apart.
SCALE = SMALL.replace("N = 65536", "N = 1048576")
FASTER = SCALE.replace("128 in", "256 in")
WRONG = SCALE.replace("x[i]", "x[i ^ (i == 77)]")
STRAY = SCALE.replace("i < n", "i <= n")
HOSTED = """__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 1.5f * x[i];
}
int main()
{
    float *x, *y;
    cudaMalloc(&x, 4096 * sizeof(float));
    cudaMalloc(&y, 4096 * sizeof(float));
    scale<<<16, 256>>>(x, y, 4096);
}
"""
# What each tool is called with, and what its answer must hold.
CALLS = [
    ("check", {"original": "scale.cu", "candidate": FASTER}, lambda a: a["verdict"] == "ok" and "compared" in a),
    ("check", {"original": "scale.cu", "candidate": WRONG},
     lambda a: a["verdict"] == "wrong" and a["reason"].startswith("candidate.cu:11: Y[77] ") and a["line"] == 11),
    ("compare", {"old": "scale.cu", "new": FASTER, "limits": ["slower=0%", "metric:l1tex__data_bank*=0"]},
     lambda a: a["passed"] is True and a["new_ns"] < a["old_ns"] and len(a["limits"]) == 3),
    ("run", {"kernel": "scale.cu"},
     lambda a: a["metrics"]["smsp__warps_launched.sum"] == 32768 and any(line["line"] == 11 for line in a["lines"])),
    ("explain", {"kernel": "scale.cu"}, lambda a: a["findings"] and "summary" in a),
    ("explain", {"old": "scale.cu", "kernel": FASTER}, lambda a: a["change"]["after_ns"] < a["change"]["before_ns"]),
    ("sanitize", {"kernel": STRAY, "checks": ["memory"]},
     lambda a: a["sanitizers"][0]["check"] == "memory" and a["sanitizers"][0]["line"] == 11),
    ("sanitize", {"kernel": "scale.cu"}, lambda a: a["sanitizers"] == []),
    ("sweep", {"kernel": "scale.cu", "parameter": "BLOCK", "values": [64, 128, 256]},
     lambda a: [p["x"] for p in a["sweep"]["points"]] == [64, 128, 256]),
    ("optimize", {"kernel": "scale.cu", "budget": 4},
     lambda a: a["speedup"] > 1 and a["output"] == "scale.keet.cu" and "__global__" in a["best"]["source"]),
    ("tune", {"kernel": "tuned.cu", "budget": 3},
     lambda a: a["speedup"] > 1 and "tune   BLOCK = 256" in a["best"]["source"] and a["output"] == "tuned.keet.cu"),
    ("results", {"database": "scale.keet.db", "top": 2}, lambda a: len(a["variants"]) == 2),
    ("show", {"database": "scale.keet.db"}, lambda a: a["verdict"] == "ok" and "__global__" in a["source"]),
    ("show", {"database": "scale.keet.db", "node": "original"}, lambda a: "1.5f * x[i]" in a["source"]),
    ("init", {"kernel": HOSTED}, lambda a: a["missing"] == 0 and "#pragma keet launch scale<<<" in a["text"]),
]


def schemas(tools):
    """Schemas are valid, say all that a model must know, and agree with CALLS."""
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        check(len(tool.description) > 60 and tool.title, tool.name, "has no description")
        check(tool.input_schema["additionalProperties"] is False, tool.name)
        for name, schema in tool.input_schema["properties"].items():
            check(len(schema["description"]) > 8, tool.name, name, "has no description")
            check("default" in schema or name in tool.input_schema["required"] or name == "old", tool.name, name)
            if "default" in schema:
                jsonschema.validate(schema["default"], schema)
        check(tool.annotations.read_only_hint == (tool.name not in ("optimize", "tune")), tool.name, tool.annotations)
    for name, given, _ in CALLS:
        jsonschema.validate(given, tools[name].input_schema)
    check({name for name, _, _ in CALLS} == set(tools), "not called:", set(tools) ^ {name for name, _, _ in CALLS})


def descendants():
    """All processes below this one."""
    found, new = set(), {str(os.getpid())}
    while new:
        found |= new
        below = set()
        for pid in new:
            try:
                for task in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                        below |= set(file.read().split())
            except OSError:
                pass
        new = below - found
    return found - {str(os.getpid())}


async def everything(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    schemas(tools)
    for name, given, holds in CALLS:
        result = await client.call_tool(name, given)
        check(not result.is_error and holds(result.structured_content), name, given, result)
    result = await client.call_tool("run", {"kernel": "/etc/passwd"})
    check(result.is_error and "outside" in result.content[0].text, result)
    try:
        await client.call_tool("none", {})
        check(False, "a tool that is not there was called")
    except MCPError as error:
        check(error.code == -32602 and "there is no tool none" in error.message, error)
    for resource in (await client.list_resources()).resources:
        contents = (await client.read_resource(resource.uri)).contents
        check(len(contents[0].text) > 500 and contents[0].mime_type == resource.mime_type, resource, contents)
    (template,) = (await client.list_resource_templates()).resource_templates
    check(template.uri_template == "keet://kernel/{name}", template)
    check("#pragma keet" in (await client.read_resource("keet://kernel/softmax")).contents[0].text, "an example")
    prompts = (await client.list_prompts()).prompts
    check({prompt.name for prompt in prompts} == {"faster", "mend", "write"}, prompts)
    for prompt in prompts:
        given = {argument.name: f"<{argument.name}>" for argument in prompt.arguments}
        text = (await client.get_prompt(prompt.name, given)).messages[0].content.text
        check(all(value in text for value in given.values()) and "{" not in text, prompt.name, text)


async def cancelled(client):
    """The client gives up; the search ends, and the next call works."""
    told = []

    async def tell(progress, total, message):
        told.append((progress, total, message))
        if progress > 0:
            scope.cancel()

    with anyio.CancelScope() as scope:
        await client.call_tool("optimize", {"kernel": "long.cu", "budget": 5000}, progress_callback=tell)
    check(scope.cancelled_caught and told[0][:2] == (0, 5000) and told[-1][0] > 0, told)
    result = await client.call_tool("results", {"database": "long.keet.db"})
    check(not result.is_error, result)
    with anyio.fail_after(60):
        while len(descendants()) > 1:  # the server itself
            await anyio.sleep(0.05)


async def main():
    keet, root = arguments()
    with tempfile.TemporaryDirectory(prefix="keet-mcp-test-") as folder:
        write(folder, "scale.cu", SCALE)
        write(folder, "tuned.cu", SCALE)
        with open(os.path.join(root, "kernels", "matmul.cu"), encoding="utf-8") as file:
            write(folder, "long.cu", file.read())
        server = StdioServerParameters(command=keet, args=["mcp", folder, "--device", "emu"], env=dict(os.environ))
        for mode, version in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
            for name in os.listdir(folder):
                if "keet" in name:
                    os.remove(os.path.join(folder, name))
            async with Client(server, mode=mode) as client:
                check(client.protocol_version == version, client.protocol_version)
                check(client.server_info.name == "keet-opt", client.server_info)
                await everything(client)
                await cancelled(client)
        check(not descendants(), "processes are left:", descendants())
    print("passed")


asyncio.run(main())
