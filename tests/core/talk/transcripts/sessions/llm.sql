CREATE TABLE "conversations" (
   "id" TEXT PRIMARY KEY,
   "name" TEXT,
   "model" TEXT
);
CREATE TABLE "responses" (
   "id" TEXT PRIMARY KEY,
   "model" TEXT,
   "prompt" TEXT,
   "system" TEXT,
   "prompt_json" TEXT,
   "options_json" TEXT,
   "response" TEXT,
   "response_json" TEXT,
   "conversation_id" TEXT REFERENCES "conversations"("id"),
   "duration_ms" INTEGER,
   "datetime_utc" TEXT,
   "input_tokens" INTEGER,
   "output_tokens" INTEGER,
   "token_details" TEXT,
   "schema_id" TEXT REFERENCES "schemas"("id")
, "resolved_model" TEXT, "reasoning" TEXT);
CREATE TABLE "threads" (
   "id" TEXT PRIMARY KEY,
   "name" TEXT,
   "tip_message_hash" TEXT REFERENCES "messages"("hash"),
   "forked_from" TEXT REFERENCES "threads"("id"),
   "datetime_utc" TEXT
);
INSERT INTO "threads" VALUES ('01m8qr0ex7m0qra377ctem20m7', 'When is high tide?', 'b2:e68e90c1ed4bfc4eba68fe6657313679', NULL, '2026-12-01 02:47:43.052127+00:00');
INSERT INTO "threads" VALUES ('01m8qr0r5ebb1y7e8g4mxnx4aw', 'What is in this picture?', 'b2:bff9daacf89761e564526d7315fbf84d', NULL, '2026-12-01 02:47:52.554694+00:00');
INSERT INTO "threads" VALUES ('01m8qr0vmfsk79pe5nwg7thw7c', 'call two files', 'b2:7dcb9a408317c61faef87de155efc56c', NULL, '2026-12-01 02:47:56.257610+00:00');
INSERT INTO "threads" VALUES ('01m8qr112ysefrym4b4by0brbr', 'frag text of tides explain the …', 'b2:8f2fbde77ae83c361c74deff6c31c4fa', NULL, '2026-12-01 02:48:01.672347+00:00');
INSERT INTO "threads" VALUES ('01m8qr143fr9crhe1x6ds6v9sg', 'alpha What does the fragment sa…', 'b2:39f24d7ae52c980b3b5eab65fc413252', NULL, '2026-12-01 02:48:04.753016+00:00');
INSERT INTO "threads" VALUES ('01m8qr16rharxppa3ws5ex235d', 'first in chat', 'b2:108bc5422ae0d5eb399f32337c5b8268', NULL, '2026-12-01 02:48:07.454534+00:00');
CREATE TABLE "turns" (
   "id" TEXT PRIMARY KEY,
   "thread_id" TEXT REFERENCES "threads"("id"),
   "parent_message_hash" TEXT REFERENCES "messages"("hash"),
   "tip_message_hash" TEXT REFERENCES "messages"("hash"),
   "model" TEXT,
   "resolved_model" TEXT,
   "options_json" TEXT,
   "schema_id" TEXT REFERENCES "schemas"("id"),
   "input_tokens" INTEGER,
   "output_tokens" INTEGER,
   "token_details" TEXT,
   "duration_ms" INTEGER,
   "datetime_utc" TEXT
, "response_json" TEXT);
INSERT INTO "turns" VALUES ('01m8qr0ex9ardqgewcwxrndv4r', '01m8qr0ex7m0qra377ctem20m7', 'b2:4ca9c70dd1442ef3e30d5cfd220671c3', 'b2:06ff2c4d3ffd4062220a5a6885cd0c31', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 280, '2026-12-01T02:47:42.761103+00:00', NULL);
INSERT INTO "turns" VALUES ('01m8qr0j3vbxv86qs8hq7s9zxn', '01m8qr0ex7m0qra377ctem20m7', 'b2:d7899b47c0b86fd6021d7c049b08d0d8', 'b2:22be8b301c00130cd3cc45424527bb78', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 311, '2026-12-01T02:47:46.043221+00:00', NULL);
INSERT INTO "turns" VALUES ('01m8qr0n52safbbhyn3j10yevf', '01m8qr0ex7m0qra377ctem20m7', 'b2:ad412ecb874ad127f2aba38d23b01943', 'b2:e68e90c1ed4bfc4eba68fe6657313679', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 305, '2026-12-01T02:47:49.154423+00:00', NULL);
INSERT INTO "turns" VALUES ('01m8qr0r5fn0jjxv7s5cd5t2ef', '01m8qr0r5ebb1y7e8g4mxnx4aw', 'b2:29c37fb33023dd30fdf433b1f84b4661', 'b2:bff9daacf89761e564526d7315fbf84d', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 294, '2026-12-01T02:47:52.239493+00:00', NULL);
INSERT INTO "turns" VALUES ('01m8qr0vmhawag3ecmescvrqw3', '01m8qr0vmfsk79pe5nwg7thw7c', 'b2:5369e684f90c8599fa0322b7299d2371', 'b2:024876506a7aa789e697a1ce796b5fae', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 288, '2026-12-01T02:47:55.793119+00:00', NULL);
INSERT INTO "turns" VALUES ('01m8qr0vxhzw6zajxyjtxz67j6', '01m8qr0vmfsk79pe5nwg7thw7c', 'b2:5d86645219d13790e035f908c9ad4a8f', 'b2:7dcb9a408317c61faef87de155efc56c', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 175, '2026-12-01T02:47:56.081663+00:00', NULL);
INSERT INTO "turns" VALUES ('01m8qr1130crg3d7t9ktp1f4wn', '01m8qr112ysefrym4b4by0brbr', 'b2:a3fc33423beeb2c6ff88316f931879e1', 'b2:8f2fbde77ae83c361c74deff6c31c4fa', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 295, '2026-12-01T02:48:01.376253+00:00', NULL);
INSERT INTO "turns" VALUES ('01m8qr143h729n3yaywxm5ebg7', '01m8qr143fr9crhe1x6ds6v9sg', 'b2:dd1b398a7769516148a9d6c948af8a9f', 'b2:39f24d7ae52c980b3b5eab65fc413252', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 287, '2026-12-01T02:48:04.465360+00:00', NULL);
INSERT INTO "turns" VALUES ('01m8qr16rn3wb7teg78n9hhbb7', '01m8qr16rharxppa3ws5ex235d', 'b2:cb9452137a0cc731574a712246448083', 'b2:59c6e8b169ebf927851ffd2c9f16a333', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 256, '2026-12-01T02:48:07.189772+00:00', NULL);
INSERT INTO "turns" VALUES ('01m8qr171pq8c41t3ajy9f9sgp', '01m8qr16rharxppa3ws5ex235d', 'b2:0af96d2e48f490333ef935741e6fff97', 'b2:fdb5c9ce5d1e7ce2894c11fc42ebb489', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 77, '2026-12-01T02:48:07.478402+00:00', NULL);
INSERT INTO "turns" VALUES ('01m8qr17500rvps788knkhvvf0', '01m8qr16rharxppa3ws5ex235d', 'b2:7657e35613d9c06ca9d86b9b46d13b81', 'b2:39c9de08cac47a0013976c53441bc2ec', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 55, '2026-12-01T02:48:07.584848+00:00', NULL);
INSERT INTO "turns" VALUES ('01m8qr19y0dbmyhd44mrjzamvh', '01m8qr16rharxppa3ws5ex235d', 'b2:6a147183205fdedb1da4fe516371d382', 'b2:108bc5422ae0d5eb399f32337c5b8268', 'tide-1', NULL, NULL, NULL, 100, 10, NULL, 290, '2026-12-01T02:48:10.432882+00:00', NULL);
CREATE TABLE "messages" (
   "hash" TEXT PRIMARY KEY,
   "parent_hash" TEXT REFERENCES "messages"("hash"),
   "role" TEXT,
   "provider_metadata" TEXT
);
INSERT INTO "messages" VALUES ('b2:d2faf0448ab8bfd6d53fc0d7effd22ff', NULL, 'system', NULL);
INSERT INTO "messages" VALUES ('b2:4ca9c70dd1442ef3e30d5cfd220671c3', 'b2:d2faf0448ab8bfd6d53fc0d7effd22ff', 'user', NULL);
INSERT INTO "messages" VALUES ('b2:06ff2c4d3ffd4062220a5a6885cd0c31', 'b2:4ca9c70dd1442ef3e30d5cfd220671c3', 'assistant', NULL);
INSERT INTO "messages" VALUES ('b2:d7899b47c0b86fd6021d7c049b08d0d8', 'b2:06ff2c4d3ffd4062220a5a6885cd0c31', 'user', NULL);
INSERT INTO "messages" VALUES ('b2:22be8b301c00130cd3cc45424527bb78', 'b2:d7899b47c0b86fd6021d7c049b08d0d8', 'assistant', NULL);
INSERT INTO "messages" VALUES ('b2:ad412ecb874ad127f2aba38d23b01943', 'b2:22be8b301c00130cd3cc45424527bb78', 'user', NULL);
INSERT INTO "messages" VALUES ('b2:e68e90c1ed4bfc4eba68fe6657313679', 'b2:ad412ecb874ad127f2aba38d23b01943', 'assistant', NULL);
INSERT INTO "messages" VALUES ('b2:29c37fb33023dd30fdf433b1f84b4661', NULL, 'user', NULL);
INSERT INTO "messages" VALUES ('b2:bff9daacf89761e564526d7315fbf84d', 'b2:29c37fb33023dd30fdf433b1f84b4661', 'assistant', NULL);
INSERT INTO "messages" VALUES ('b2:5369e684f90c8599fa0322b7299d2371', NULL, 'user', NULL);
INSERT INTO "messages" VALUES ('b2:024876506a7aa789e697a1ce796b5fae', 'b2:5369e684f90c8599fa0322b7299d2371', 'assistant', NULL);
INSERT INTO "messages" VALUES ('b2:5d86645219d13790e035f908c9ad4a8f', 'b2:024876506a7aa789e697a1ce796b5fae', 'tool', NULL);
INSERT INTO "messages" VALUES ('b2:7dcb9a408317c61faef87de155efc56c', 'b2:5d86645219d13790e035f908c9ad4a8f', 'assistant', NULL);
INSERT INTO "messages" VALUES ('b2:a3fc33423beeb2c6ff88316f931879e1', NULL, 'user', NULL);
INSERT INTO "messages" VALUES ('b2:8f2fbde77ae83c361c74deff6c31c4fa', 'b2:a3fc33423beeb2c6ff88316f931879e1', 'assistant', NULL);
INSERT INTO "messages" VALUES ('b2:dd1b398a7769516148a9d6c948af8a9f', NULL, 'user', NULL);
INSERT INTO "messages" VALUES ('b2:39f24d7ae52c980b3b5eab65fc413252', 'b2:dd1b398a7769516148a9d6c948af8a9f', 'assistant', NULL);
INSERT INTO "messages" VALUES ('b2:cb9452137a0cc731574a712246448083', NULL, 'user', NULL);
INSERT INTO "messages" VALUES ('b2:59c6e8b169ebf927851ffd2c9f16a333', 'b2:cb9452137a0cc731574a712246448083', 'assistant', NULL);
INSERT INTO "messages" VALUES ('b2:0af96d2e48f490333ef935741e6fff97', 'b2:59c6e8b169ebf927851ffd2c9f16a333', 'user', NULL);
INSERT INTO "messages" VALUES ('b2:fdb5c9ce5d1e7ce2894c11fc42ebb489', 'b2:0af96d2e48f490333ef935741e6fff97', 'assistant', NULL);
INSERT INTO "messages" VALUES ('b2:7657e35613d9c06ca9d86b9b46d13b81', 'b2:fdb5c9ce5d1e7ce2894c11fc42ebb489', 'user', NULL);
INSERT INTO "messages" VALUES ('b2:39c9de08cac47a0013976c53441bc2ec', 'b2:7657e35613d9c06ca9d86b9b46d13b81', 'assistant', NULL);
INSERT INTO "messages" VALUES ('b2:6a147183205fdedb1da4fe516371d382', 'b2:39c9de08cac47a0013976c53441bc2ec', 'user', NULL);
INSERT INTO "messages" VALUES ('b2:108bc5422ae0d5eb399f32337c5b8268', 'b2:6a147183205fdedb1da4fe516371d382', 'assistant', NULL);
CREATE TABLE "parts" (
   "id" INTEGER PRIMARY KEY,
   "message_hash" TEXT REFERENCES "messages"("hash"),
   "position" INTEGER,
   "type" TEXT,
   "tool_name" TEXT,
   "text" TEXT,
   "payload" TEXT
);
INSERT INTO "parts" VALUES (1, 'b2:d2faf0448ab8bfd6d53fc0d7effd22ff', 0, 'text', NULL, 'Be brief', NULL);
INSERT INTO "parts" VALUES (2, 'b2:4ca9c70dd1442ef3e30d5cfd220671c3', 0, 'text', NULL, 'When is high tide?', NULL);
INSERT INTO "parts" VALUES (3, 'b2:06ff2c4d3ffd4062220a5a6885cd0c31', 0, 'text', NULL, 'Reply to: When is high tide?', NULL);
INSERT INTO "parts" VALUES (4, 'b2:d7899b47c0b86fd6021d7c049b08d0d8', 0, 'text', NULL, 'And low tide?', NULL);
INSERT INTO "parts" VALUES (5, 'b2:22be8b301c00130cd3cc45424527bb78', 0, 'text', NULL, 'Reply to: And low tide?', NULL);
INSERT INTO "parts" VALUES (6, 'b2:ad412ecb874ad127f2aba38d23b01943', 0, 'text', NULL, 'think hard about the moon', NULL);
INSERT INTO "parts" VALUES (7, 'b2:e68e90c1ed4bfc4eba68fe6657313679', 0, 'text', NULL, 'The moon pulls. Tags such as `<think>` are text here.', NULL);
INSERT INTO "parts" VALUES (8, 'b2:29c37fb33023dd30fdf433b1f84b4661', 0, 'text', NULL, 'What is in this picture?', NULL);
INSERT INTO "parts" VALUES (9, 'b2:29c37fb33023dd30fdf433b1f84b4661', 1, 'attachment', NULL, NULL, '{"attachment": {"id": "97a3a410c9bca540512251c37ce63982edccbed54c6f2e1d06ec717b9f753e29"}}');
INSERT INTO "parts" VALUES (10, 'b2:bff9daacf89761e564526d7315fbf84d', 0, 'text', NULL, 'Reply to: What is in this picture?', NULL);
INSERT INTO "parts" VALUES (11, 'b2:5369e684f90c8599fa0322b7299d2371', 0, 'text', NULL, 'call two files', NULL);
INSERT INTO "parts" VALUES (12, 'b2:024876506a7aa789e697a1ce796b5fae', 0, 'text', NULL, 'I call.', NULL);
INSERT INTO "parts" VALUES (13, 'b2:024876506a7aa789e697a1ce796b5fae', 1, 'tool_call', 'llm_time', NULL, '{"name": "llm_time", "arguments": {}, "tool_call_id": "call_21_0"}');
INSERT INTO "parts" VALUES (14, 'b2:024876506a7aa789e697a1ce796b5fae', 2, 'tool_call', 'llm_time', NULL, '{"name": "llm_time", "arguments": {}, "tool_call_id": "call_21_1"}');
INSERT INTO "parts" VALUES (15, 'b2:5d86645219d13790e035f908c9ad4a8f', 0, 'tool_result', 'llm_time', NULL, '{"name": "llm_time", "output": "{\"utc_time\": \"2026-12-01 02:47:56 UTC\", \"utc_time_iso\": \"2026-12-01T02:47:56.081435+00:00\", \"local_timezone\": \"UTC\", \"local_time\": \"2026-12-01 02:47:56\", \"timezone_offset\": \"UTC+00:00\", \"is_dst\": false}", "tool_call_id": "call_21_0"}');
INSERT INTO "parts" VALUES (16, 'b2:5d86645219d13790e035f908c9ad4a8f', 1, 'tool_result', 'llm_time', NULL, '{"name": "llm_time", "output": "{\"utc_time\": \"2026-12-01 02:47:56 UTC\", \"utc_time_iso\": \"2026-12-01T02:47:56.081527+00:00\", \"local_timezone\": \"UTC\", \"local_time\": \"2026-12-01 02:47:56\", \"timezone_offset\": \"UTC+00:00\", \"is_dst\": false}", "tool_call_id": "call_21_1"}');
INSERT INTO "parts" VALUES (17, 'b2:7dcb9a408317c61faef87de155efc56c', 0, 'text', NULL, 'Both are read: they speak of tides.', NULL);
INSERT INTO "parts" VALUES (18, 'b2:a3fc33423beeb2c6ff88316f931879e1', 0, 'text', NULL, 'frag text of tides
 explain the quoted log', NULL);
INSERT INTO "parts" VALUES (19, 'b2:8f2fbde77ae83c361c74deff6c31c4fa', 0, 'text', NULL, 'An aider log looks so:

```
#### not a person
> not the program
```

> a quote of mine

#### A heading of mine

End.', NULL);
INSERT INTO "parts" VALUES (20, 'b2:dd1b398a7769516148a9d6c948af8a9f', 0, 'text', NULL, NULL, '{"text_ref": [{"fragment": 1}, {"literal": "\nWhat does the fragment say?"}]}');
INSERT INTO "parts" VALUES (21, 'b2:39f24d7ae52c980b3b5eab65fc413252', 0, 'text', NULL, 'Reply to: What does the fragment say?', NULL);
INSERT INTO "parts" VALUES (22, 'b2:cb9452137a0cc731574a712246448083', 0, 'text', NULL, 'first in chat', NULL);
INSERT INTO "parts" VALUES (23, 'b2:59c6e8b169ebf927851ffd2c9f16a333', 0, 'text', NULL, 'Reply to: first in chat', NULL);
INSERT INTO "parts" VALUES (24, 'b2:0af96d2e48f490333ef935741e6fff97', 0, 'text', NULL, 'second in chat', NULL);
INSERT INTO "parts" VALUES (25, 'b2:fdb5c9ce5d1e7ce2894c11fc42ebb489', 0, 'text', NULL, 'Reply to: second in chat', NULL);
INSERT INTO "parts" VALUES (26, 'b2:7657e35613d9c06ca9d86b9b46d13b81', 0, 'text', NULL, 'three
lines', NULL);
INSERT INTO "parts" VALUES (27, 'b2:39c9de08cac47a0013976c53441bc2ec', 0, 'text', NULL, 'Reply to: lines', NULL);
INSERT INTO "parts" VALUES (28, 'b2:6a147183205fdedb1da4fe516371d382', 0, 'text', NULL, 'resumed', NULL);
INSERT INTO "parts" VALUES (29, 'b2:108bc5422ae0d5eb399f32337c5b8268', 0, 'text', NULL, 'Reply to: resumed', NULL);
CREATE TABLE "fragments" (
   "id" INTEGER PRIMARY KEY,
   "hash" TEXT,
   "content" TEXT,
   "datetime_utc" TEXT,
   "source" TEXT
);
INSERT INTO "fragments" VALUES (1, 'b6a98d9ce9a2d9149288fa3df42d377c3e42737afdcdaf714e33c0a100b51060', 'alpha
', '2026-12-01 02:48:04', '/srv/tides/a.txt');
CREATE TABLE "attachments" (
   "id" TEXT PRIMARY KEY,
   "type" TEXT,
   "path" TEXT,
   "url" TEXT,
   "content" BLOB
);
INSERT INTO "attachments" VALUES ('97a3a410c9bca540512251c37ce63982edccbed54c6f2e1d06ec717b9f753e29', 'image/png', '/srv/tides/pic.png', NULL, NULL);
