// A client of the TypeScript SDK that reads one request a line and answers with one line.
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const { name, revision, url, headers, command, args } = JSON.parse(process.argv[2]);
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  : new StdioClientTransport({ command, args, env: process.env, stderr: "ignore" });
const send = transport.send.bind(transport);
transport.send = (message, options) => {
  if (message.method === "initialize") message.params.protocolVersion = revision;
  return send(message, options);
};

const client = new Client({ name, version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "ada" } }));
const call = (tool, given, options) => client.callTool({ name: tool, arguments: given }, undefined, options);

async function more(field, before) {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const seen = (await call("waited", {})).structuredContent;
    if (seen[field] > before[field] || Date.now() > deadline) return seen;
  }
}

async function cancel() {
  const before = (await call("waited", {})).structuredContent;
  const controller = new AbortController();
  const waiting = call("wait", {}, { signal: controller.signal }).catch(() => "cancelled");
  await more("started", before);
  controller.abort();
  await waiting;
  const seen = await more("cancelled", before);
  return { started: seen.started - before.started, cancelled: seen.cancelled - before.cancelled };
}

const operations = {
  tools: () => client.listTools(),
  call: ({ tool, given }) => call(tool, given),
  read: ({ uri }) => client.readResource({ uri }),
  prompt: ({ prompt }) => client.getPrompt({ name: prompt }),
  instructions: () => ({ instructions: client.getInstructions() }),
  cancel,
};

const answer = (data) => process.stdout.write(`${JSON.stringify(data)}\n`);
await client.connect(transport);
answer({ connected: true });
for await (const line of createInterface({ input: process.stdin })) {
  const { operation, ...rest } = JSON.parse(line);
  try {
    answer(await operations[operation](rest));
  } catch ({ code, message, data }) {
    answer({ error: { code, message, data } });
  }
}
await client.close();
