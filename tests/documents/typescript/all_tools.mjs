// Runs the document store's four tools with the official TypeScript SDK: node all_tools.mjs TRANSPORT TARGET FILE
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, target, file] = process.argv.slice(2);
const transports = {
  sse: () => new SSEClientTransport(new URL(`${target}/sse`)),
  streamable: () => new StreamableHTTPClientTransport(new URL(`${target}/mcp`)),
  stdio: () => new StdioClientTransport({
    command: target, args: ["-m", "trigpoint.cli.main", "mcp", "document-store"], env: process.env,
  }),
};
const client = new Client({ name: "trigpoint-test", version: "1" });
await client.connect(transports[kind]());

const reference = { application_ref: "25/01178/REM" };
const progress = [];
const answers = {};
const call = async (key, name, args, options) => {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  answers[key] = { isError: result.isError ?? false, body: result.structuredContent, text: result.content[0].text };
};
answers.tools = (await client.listTools()).tools.map((tool) => tool.name);
await call("ingest", "ingest_document", { file_path: file, ...reference },
  { onprogress: (step) => progress.push(step.progress) });
await call("again", "ingest_document", { file_path: file, ...reference });
await call("search", "search_application_docs", { query: "cycle parking", ...reference });
await call("hybrid", "search_application_docs", { query: "cycle parking", mode: "hybrid" });
await call("list", "list_ingested_documents", reference);
await call("text", "get_document_text", { document_id: answers.ingest.body.document_id });
await call("absent", "get_document_text", { document_id: "absent" });
await call("wrong", "search_application_docs", { query: 5 });
answers.progress = progress;
await client.close();
console.log(JSON.stringify(answers));
