#!/usr/bin/env bash
# ai 6.0.326 (Vercel AI SDK), @ai-sdk/openai-compatible 2.0.92
#
# A local model writes its reasoning between <think> and </think>, and `extractReasoningMiddleware` takes it out of the text.
# A reply reaches its limit of tokens while the model still reasons, so the second tag never comes.
#
# Expected: generateText and streamText give the same text and the same reasoning for the same reply.
# Seen: without a stream only a pair of tags is reasoning, so the half reasoning is the answer, tag and all, and `reasoningText`
# is undefined. Streamed, it is reasoning and the answer is empty. A reply that only names the tag ("begins with <think>") loses
# everything after it when it is streamed, and is whole when it is not.
#
# Why it matters: thoughts that were not meant to be shown or parsed are stored as the answer, or an answer ends in the middle,
# by whether one streams.
#
# Output seen:
#   <think>They ask for the total. 12 + 3
#     generateText: text "<think>They ask for the total. 12 + 3", reasoning none
#     streamText: text "", reasoning "They ask for the total. 12 + 3"
#   Such a reply begins with <think> and then reasons.
#     generateText: text "Such a reply begins with <think> and then reasons.", reasoning none
#     streamText: text "Such a reply begins with ", reasoning " and then reasons."
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund ai@6.0.326 @ai-sdk/openai-compatible@2.0.92 zod@4.6.7

cat > try.mjs <<'JS'
import http from "node:http";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { extractReasoningMiddleware, generateText, streamText, wrapLanguageModel } from "ai";
let reply;
const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 };
const one = (object, part) => ({ id: "r", object, created: 1, model: "x", choices: [{ index: 0, finish_reason: reply.reason, ...part }], usage });
const server = http.createServer((request, response) => {
  let asked = "";
  request.on("data", (data) => (asked += data));
  request.on("end", () => {
    const streams = JSON.parse(asked).stream;
    const said = { role: "assistant", content: reply.text };
    response.writeHead(200, { "content-type": streams ? "text/event-stream" : "application/json" });
    if (streams) response.end(`data: ${JSON.stringify(one("chat.completion.chunk", { delta: said }))}\n\ndata: [DONE]\n\n`);
    else response.end(JSON.stringify(one("chat.completion", { message: said })));
  });
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const vendor = createOpenAICompatible({ name: "local", apiKey: "x", baseURL: `http://127.0.0.1:${server.address().port}/v1` });
const model = wrapLanguageModel({ model: vendor("x"), middleware: extractReasoningMiddleware({ tagName: "think" }) });
const show = (name, text, reasoning) => console.log(`  ${name}: text ${JSON.stringify(text)}, reasoning ${JSON.stringify(reasoning) ?? "none"}`);
for (const [text, reason] of [["<think>They ask for the total. 12 + 3", "length"], ["Such a reply begins with <think> and then reasons.", "stop"]]) {
  reply = { text, reason };
  console.log(text);
  const whole = await generateText({ model, prompt: "q" });
  show("generateText", whole.text, whole.reasoningText);
  const stream = streamText({ model, prompt: "q" });
  show("streamText", await stream.text, await stream.reasoningText);
}
server.close();
JS
node try.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
