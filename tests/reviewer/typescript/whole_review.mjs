// Leads a review with the official TypeScript SDK: node whole_review.mjs TRANSPORT TARGET REFERENCE
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [kind, target, reference] = process.argv.slice(2);
const transports = {
  streamable: () => new StreamableHTTPClientTransport(new URL(`${target}/mcp`)),
  stdio: () => new StdioClientTransport({
    command: target, args: ["-m", "trigpoint.cli.main", "mcp", "reviewer"], env: process.env,
  }),
};
const client = new Client({ name: "Node Agent", version: "3" });
await client.connect(transports[kind]());

const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 120000 });
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  return result.structuredContent;
};
const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
const { review } = await call("open_review", { application_ref: reference });
let documents = [];
let step = "opening";
while (step !== "judge") {
  const shown = await call("read_next", { review });
  step = shown.step;
  if (step === "application") documents = shown.documents;
}
const statement = documents.find((one) => one.name === "Transport Statement.pdf").label;
const words = "No cycle parking is provided for the houses.";
const finding = {
  aspect: "cycle_parking", question: "long_stay", outcome: "failed",
  statement: "The houses have no cycle parking.",
  evidence: [{ document: statement, page: 6, words: "Each house has a golden shed." }],
  recommendation: "Provide cycle parking for every house, in the plot of each.",
};
const first = await call("submit_findings", { review, findings: [finding] });
const id = first.verdicts[0].id;
const mended = { ...finding, id, evidence: [{ document: statement, page: 6, words }] };
const second = await call("submit_findings", { review, findings: [mended] });
const sentence = (text) => ({ text, rests_on: [id] });
const conclusion = {
  summary: [sentence("The houses have no cycle parking at all, which decides the matter.")],
  stance: "object",
  letter: [sentence("The houses are built without any cycle parking.")],
};
const drafted = await call("draft_letter", { review, conclusion });
const done = await call("finish_review", { review });
await client.close();
console.log(JSON.stringify({
  prompts, first: first.verdicts[0], second: second.verdicts[0], letter: drafted.letter, left_out: drafted.left_out, done,
}));
