"""Shapes of further programs, and of those that are known as they write in 2026."""

from __future__ import annotations

import pytest

from core.kernel.values.imports import TranscriptKind
from tests.core.talk.transcripts.shapes import Shape, check

SHAPES = [
    Shape(
        id="cc newest control rows",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "permission-mode", "permissionMode": "plan", "sessionId": "11111111-1111-1111-1111-111111111111"}\n{"type": "last-prompt", "lastPrompt": "Fix", "sessionId": "11111111-1111-1111-1111-111111111111"}\n{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Fix it"}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "id": "msg_b", "model": "claude-opus-4-8"}}\n{"type": "ai-title", "aiTitle": "Fixing", "sessionId": "11111111-1111-1111-1111-111111111111"}\n{"type": "pr-link", "prNumber": 3, "prUrl": "https://x.example/3", "sessionId": "11111111-1111-1111-1111-111111111111"}\n{"type": "worktree-state", "sessionId": "11111111-1111-1111-1111-111111111111"}\n{"type": "mode", "mode": "normal", "sessionId": "11111111-1111-1111-1111-111111111111"}\n',
        said=(("u: Fix it", "a: Done."),),
        title="Fixing",
        models=("claude-opus-4-8",),
    ),
    Shape(
        id="cc attachment rows are no words",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "attachment", "uuid": "x", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "attachment": {"type": "skill_listing", "content": "- a: b"}, "timestamp": "2026-11-01T08:00:00Z"}\n{"type": "user", "uuid": "a", "parentUuid": "x", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Hello"}}\n{"type": "attachment", "uuid": "y", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "attachment": {"type": "todo_reminder", "content": [], "itemCount": 0}, "timestamp": "2026-11-01T08:00:00Z"}\n{"type": "assistant", "uuid": "b", "parentUuid": "y", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Hi."}], "id": "msg_b", "model": "claude-opus-4-8"}}\n',
        said=(("u: Hello", "a: Hi."),),
    ),
    Shape(
        id="cc attachment queued_command",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Go"}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}], "id": "msg_b", "model": "claude-opus-4-8"}}\n{"type": "user", "uuid": "c", "parentUuid": "b", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}}\n{"type": "attachment", "uuid": "q", "parentUuid": "c", "sessionId": "11111111-1111-1111-1111-111111111111", "attachment": {"type": "queued_command", "prompt": "Also tests", "commandMode": "prompt"}, "timestamp": "2026-11-01T08:00:00Z"}\n{"type": "assistant", "uuid": "d", "parentUuid": "q", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Both."}], "id": "msg_d", "model": "claude-opus-4-8"}}\n',
        said=(("u: Go", 'a: (calls Bash) {"command": "ls"}', "u: (result) x", "u: Also tests", "a: Both."),),
    ),
    Shape(
        id="cc queued task notification is none",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Go"}}\n{"type": "attachment", "uuid": "q", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "attachment": {"type": "queued_command", "prompt": "<task-notification>done</task-notification>", "commandMode": "task-notification"}, "timestamp": "2026-11-01T08:00:00Z"}\n{"type": "assistant", "uuid": "d", "parentUuid": "q", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Both."}], "id": "msg_d", "model": "claude-opus-4-8"}}\n',
        said=(("u: Go", "a: Both."),),
    ),
    Shape(
        id="cc microcompact boundary",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Go"}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "One."}], "id": "msg_b", "model": "claude-opus-4-8"}}\n{"type": "system", "subtype": "microcompact_boundary", "uuid": "s", "parentUuid": "b", "sessionId": "11111111-1111-1111-1111-111111111111", "content": "Context microcompacted", "timestamp": "2026-11-01T08:00:00Z"}\n{"type": "user", "uuid": "c", "parentUuid": "s", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "On"}}\n{"type": "assistant", "uuid": "d", "parentUuid": "c", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Two."}], "id": "msg_d", "model": "claude-opus-4-8"}}\n',
        said=(("u: Go", "a: One.", "u: On", "a: Two."),),
    ),
    Shape(
        id="cc plan approval text",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Plan it"}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ExitPlanMode", "input": {"plan": "# Plan"}}], "id": "msg_b", "model": "claude-opus-4-8"}}\n{"type": "user", "uuid": "c", "parentUuid": "b", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "User has approved your plan. You can now start coding."}]}}\n{"type": "assistant", "uuid": "d", "parentUuid": "c", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Start."}], "id": "msg_d", "model": "claude-opus-4-8"}}\n',
        said=(
            (
                "u: Plan it",
                'a: (calls ExitPlanMode) {"plan": "# Plan"}',
                "u: (result) User has approved your plan. You can now start coding.",
                "a: Start.",
            ),
        ),
    ),
    Shape(
        id="cc slash skill with args",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "<command-message>review</command-message>\\n<command-name>/review</command-name>\\n<command-args>the pump code</command-args>"}}\n{"type": "user", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": [{"type": "text", "text": "Base directory for this skill: /x\\n\\nReview\\u2026"}]}, "isMeta": true}\n{"type": "assistant", "uuid": "c", "parentUuid": "b", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Reviewed."}], "id": "msg_c", "model": "claude-opus-4-8"}}\n',
        said=(("u: /review the pump code", "a: Reviewed."),),
    ),
    Shape(
        id="cc interrupted then new",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "One"}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Star"}], "id": "msg_b", "model": "claude-opus-4-8"}}\n{"type": "user", "uuid": "c", "parentUuid": "b", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}}\n{"type": "user", "uuid": "d", "parentUuid": "c", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Two"}}\n{"type": "assistant", "uuid": "e", "parentUuid": "d", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "OK."}], "id": "msg_e", "model": "claude-opus-4-8"}}\n',
        said=(("u: One", "a: Star", "u: Two", "a: OK."),),
    ),
    Shape(
        id="codex custom tool and web search",
        kind=TranscriptKind.CODEX,
        data='{"timestamp": "2026-11-01T08:00:00Z", "type": "session_meta", "payload": {"id": "11111111-1111-1111-1111-111111111111", "cwd": "/w", "timestamp": "2026-11-01T08:00:00Z", "originator": "codex_cli_rs", "cli_version": "0.171.0"}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "turn_context", "payload": {"model": "gpt-5.5-codex", "cwd": "/w"}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>x</environment_context>"}]}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Patch it"}]}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "response_item", "payload": {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin"}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "response_item", "payload": {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "response_item", "payload": {"type": "message", "role": "assistant", "phase": "final_answer", "content": [{"type": "output_text", "text": "Patched."}]}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": "Patched."}}\n',
        said=(("u: Patch it", "a: (calls apply_patch) *** Begin", "a: (result) ok", "a: Patched."),),
        models=("gpt-5.5-codex",),
    ),
    Shape(
        id="codex turn item events only",
        kind=TranscriptKind.CODEX,
        data='{"timestamp": "2026-11-01T08:00:00Z", "type": "session_meta", "payload": {"id": "11111111-1111-1111-1111-111111111111", "cwd": "/w"}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "event_msg", "payload": {"type": "user_message", "message": "Hi", "images": []}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "event_msg", "payload": {"type": "agent_reasoning", "text": "thinks"}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "event_msg", "payload": {"type": "agent_message", "message": "Hello."}}\n',
        said=(("u: Hi", "a: Hello."),),
    ),
    Shape(
        id="codex tool output list",
        kind=TranscriptKind.CODEX,
        data='{"timestamp": "2026-11-01T08:00:00Z", "type": "session_meta", "payload": {"id": "11111111-1111-1111-1111-111111111111"}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "See"}]}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "response_item", "payload": {"type": "function_call", "call_id": "c", "name": "view_image", "arguments": "{}"}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": "data:image/png;base64,AA"}]}}\n{"timestamp": "2026-11-01T08:00:00Z", "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A cat."}]}}\n',
        said=(("u: See", "a: (calls view_image) {}", "a: (result) seen", "a: A cat."),),
    ),
    Shape(
        id="gemini jsonl",
        kind=TranscriptKind.GEMINI_CLI,
        data='{"sessionId": "11111111-1111-1111-1111-111111111111", "projectHash": "h", "startTime": "2026-11-01T08:00:00Z", "kind": "main"}\n{"id": "1", "timestamp": "2026-11-01T08:00:00Z", "type": "user", "content": [{"text": "Hi"}]}\n{"id": "2", "timestamp": "2026-11-01T08:00:01Z", "type": "gemini", "content": "", "thoughts": [{"subject": "S", "description": "Think."}], "toolCalls": [{"id": "c", "name": "read_file", "args": {"p": "a"}, "status": "success", "result": [{"functionResponse": {"id": "c", "name": "read_file", "response": {"output": "x"}}}]}], "model": "gemini-3-pro"}\n{"id": "3", "type": "info", "content": "Update available"}\n{"id": "2b", "timestamp": "2026-11-01T08:00:02Z", "type": "gemini", "content": "Read.", "model": "gemini-3-pro"}\n',
        said=(
            ("u: Hi", 'a: (thinks) **S**\nThink. | (calls read_file) {"p": "a"} | (result) x', "a: Read."),
        ),
        models=("gemini-3-pro",),
    ),
    Shape(
        id="opencode model in head",
        kind=TranscriptKind.OPENCODE,
        data='{"info": {"id": "ses_1", "title": "T", "directory": "/w", "time": {"created": 1793000000000}}, "messages": [{"info": {"id": "m1", "sessionID": "ses_1", "role": "user", "time": {"created": 1}, "model": {"providerID": "anthropic", "modelID": "claude-opus-4-8"}}, "parts": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "Called the Read tool", "synthetic": true}]}, {"info": {"id": "m2", "sessionID": "ses_1", "role": "assistant", "modelID": "claude-opus-4-8", "providerID": "anthropic", "time": {"created": 2}}, "parts": [{"type": "step-start"}, {"type": "reasoning", "text": "hm"}, {"type": "text", "text": "Yo"}, {"type": "step-finish", "reason": "stop"}, {"type": "patch", "hash": "a", "files": []}]}]}',
        said=(("u: Hi", "a: (thinks) hm | Yo"),),
        title="T",
        models=("claude-opus-4-8",),
    ),
    Shape(
        id="deepseek fragments",
        kind=TranscriptKind.CHATGPT,
        data='[{"id": "d1", "title": "Tides", "inserted_at": "2026-10-01T08:00:00.000000+08:00", "updated_at": "2026-10-01T08:00:00.000000+08:00", "mapping": {"root": {"id": "root", "parent": null, "children": ["1"], "message": null}, "1": {"id": "1", "parent": "root", "children": ["2"], "message": {"files": [], "model": "deepseek-chat", "inserted_at": "2026-10-01T08:00:01+08:00", "fragments": [{"type": "REQUEST", "content": "When?"}]}}, "2": {"id": "2", "parent": "1", "children": [], "message": {"files": [], "model": "deepseek-reasoner", "inserted_at": "2026-10-01T08:00:02+08:00", "fragments": [{"type": "THINK", "content": "hm"}, {"type": "SEARCH", "results": []}, {"type": "RESPONSE", "content": "Noon."}]}}}}]',
        said=(("u: When?", "a: (thinks) hm | Noon."),),
        title="Tides",
        models=("deepseek-reasoner",),
    ),
    Shape(
        id="chatgpt code interpreter",
        kind=TranscriptKind.CHATGPT,
        data='[{"id": "c1", "conversation_id": "c1", "title": "Talk", "create_time": 1793000000, "update_time": 1793000009, "mapping": {"root": {"id": "root", "message": null, "parent": null, "children": ["n0"]}, "n0": {"id": "n0", "parent": "root", "children": ["n1"], "message": {"id": "n0", "author": {"role": "user", "name": null}, "create_time": 1793000000, "content": {"content_type": "text", "parts": ["Sum"]}, "recipient": "all", "channel": null, "metadata": {}, "status": "finished_successfully", "weight": 1.0}}, "n1": {"id": "n1", "parent": "n0", "children": ["n2"], "message": {"id": "n1", "author": {"role": "assistant", "name": null}, "create_time": 1793000001, "content": {"content_type": "code", "language": "python", "text": "1+1"}, "recipient": "python", "channel": null, "metadata": {"model_slug": "gpt-5-5"}, "status": "finished_successfully", "weight": 1.0}}, "n2": {"id": "n2", "parent": "n1", "children": ["n3"], "message": {"id": "n2", "author": {"role": "tool", "name": "python"}, "create_time": 1793000002, "content": {"content_type": "execution_output", "text": "2"}, "recipient": "all", "channel": null, "metadata": {}, "status": "finished_successfully", "weight": 1.0}}, "n3": {"id": "n3", "parent": "n2", "children": [], "message": {"id": "n3", "author": {"role": "assistant", "name": null}, "create_time": 1793000003, "content": {"content_type": "text", "parts": ["Two."]}, "recipient": "all", "channel": null, "metadata": {"model_slug": "gpt-5-5"}, "status": "finished_successfully", "weight": 1.0}}}, "current_node": "n3", "default_model_slug": "gpt-5-5"}]',
        said=(("u: Sum", "a: (calls python) 1+1", "t: (result) 2", "a: Two."),),
    ),
    Shape(
        id="grok export",
        kind=TranscriptKind.GROK,
        data='{"conversations": [{"conversation": {"id": "g1", "title": "Grok tides", "create_time": "2026-10-01T08:00:00.000Z", "modify_time": "2026-10-01T08:00:00.000Z", "system_prompt_name": ""}, "responses": [{"response": {"_id": "r1", "conversation_id": "g1", "message": "When?", "sender": "human", "create_time": {"$date": {"$numberLong": "1793000000000"}}, "parent_response_id": null, "model": "grok-4"}, "share_link": null}, {"response": {"_id": "r2", "conversation_id": "g1", "message": "At noon.", "sender": "assistant", "create_time": {"$date": {"$numberLong": "1793000001000"}}, "parent_response_id": "r1", "model": "grok-4", "thinking_trace": "Think.", "web_search_results": [], "steps": []}}, {"response": {"_id": "r3", "conversation_id": "g1", "message": "At one.", "sender": "ASSISTANT", "create_time": {"$date": {"$numberLong": "1793000002000"}}, "parent_response_id": "r1", "model": "grok-4"}}]}], "projects": [], "tasks": [], "media_posts": []}',
        said=(("u: When?", "a: At one."), ("u: When?", "a: (thinks) Think. | At noon.")),
        title="Grok tides",
        models=("grok-4",),
    ),
    Shape(
        id="vscode json",
        kind=TranscriptKind.COPILOT,
        data='{"version": 3, "responderUsername": "GitHub Copilot", "sessionId": "11111111-1111-1111-1111-111111111111", "creationDate": 1793000000000, "customTitle": "Pump work", "requests": [{"requestId": "request_1", "message": {"text": "Fix pump", "parts": [{"kind": "text", "text": "Fix pump"}]}, "variableData": {"variables": []}, "response": [{"kind": "thinking", "value": "Hm.", "id": "x"}, {"value": "I look "}, {"kind": "inlineReference", "inlineReference": {"path": "/w/pump.py"}}, {"value": " now."}, {"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "toolCallId": "tc", "invocationMessage": {"value": "Reading pump.py"}, "isComplete": true, "resultDetails": {"input": "{\\"p\\":1}", "output": [{"type": "embed", "isText": true, "value": "code"}]}}, {"kind": "progressMessage", "content": {"value": "Working"}}, {"value": "Fixed."}, {"kind": "undoStop", "id": "u"}], "timestamp": 1793000000000, "modelId": "copilot/claude-opus-4.8", "isCanceled": false}, {"requestId": "request_2", "message": {"text": "Thanks", "parts": [{"kind": "text", "text": "Thanks"}]}, "variableData": {"variables": []}, "response": [{"value": "Welcome."}], "timestamp": 1793000000000, "modelId": "copilot/claude-opus-4.8", "isCanceled": false, "isHidden": false}]}',
        said=(
            (
                "u: Fix pump",
                'a: (thinks) Hm. | I look pump.py now. | (calls copilot_readFile) {"p":1} | (result) code | Fixed.',
                "u: Thanks",
                "a: Welcome.",
            ),
        ),
        title="Pump work",
        models=("claude-opus-4.8",),
    ),
    Shape(
        id="vscode jsonl log",
        kind=TranscriptKind.COPILOT,
        data='{"kind": 0, "v": {"version": 3, "responderUsername": "GitHub Copilot", "sessionId": "11111111-1111-1111-1111-111111111111", "creationDate": 1793000000000, "customTitle": null, "requests": []}}\n{"kind": 2, "k": ["requests"], "v": [{"requestId": "request_1", "message": {"text": "Fix pump", "parts": [{"kind": "text", "text": "Fix pump"}]}, "variableData": {"variables": []}, "response": [], "timestamp": 1793000000000, "modelId": "copilot/claude-opus-4.8", "isCanceled": false}]}\n{"kind": 1, "k": ["customTitle"], "v": "Pump work"}\n{"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "old"}]}\n{"kind": 2, "k": ["requests", 0, "response"], "v": [{"kind": "thinking", "value": "Hm.", "id": "x"}, {"value": "I look "}, {"kind": "inlineReference", "inlineReference": {"path": "/w/pump.py"}}, {"value": " now."}, {"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "toolCallId": "tc", "invocationMessage": {"value": "Reading pump.py"}, "isComplete": true, "resultDetails": {"input": "{\\"p\\":1}", "output": [{"type": "embed", "isText": true, "value": "code"}]}}, {"kind": "progressMessage", "content": {"value": "Working"}}, {"value": "Fixed."}, {"kind": "undoStop", "id": "u"}], "i": 0}\n{"kind": 2, "k": ["requests"], "v": [{"requestId": "request_2", "message": {"text": "Thanks", "parts": [{"kind": "text", "text": "Thanks"}]}, "variableData": {"variables": []}, "response": [{"value": "Welcome."}], "timestamp": 1793000000000, "modelId": "copilot/claude-opus-4.8", "isCanceled": false, "isHidden": false}], "i": 1}\n{"kind": 3, "k": ["inputState"]}\n',
        said=(
            (
                "u: Fix pump",
                'a: (thinks) Hm. | I look pump.py now. | (calls copilot_readFile) {"p":1} | (result) code | Fixed.',
                "u: Thanks",
                "a: Welcome.",
            ),
        ),
        title="Pump work",
    ),
    Shape(
        id="vscode hidden request",
        kind=TranscriptKind.COPILOT,
        data='{"version": 3, "responderUsername": "GitHub Copilot", "sessionId": "11111111-1111-1111-1111-111111111111", "creationDate": 1793000000000, "customTitle": "Pump work", "requests": [{"requestId": "request_1", "message": {"text": "Bad", "parts": [{"kind": "text", "text": "Bad"}]}, "variableData": {"variables": []}, "response": [{"value": "No."}], "timestamp": 1793000000000, "modelId": "copilot/claude-opus-4.8", "isCanceled": false, "shouldBeRemovedOnSend": {"requestId": "x"}}, {"requestId": "request_2", "message": {"text": "Good", "parts": [{"kind": "text", "text": "Good"}]}, "variableData": {"variables": []}, "response": [{"value": "Yes."}], "timestamp": 1793000000000, "modelId": "copilot/claude-opus-4.8", "isCanceled": false}]}',
        said=(("u: Good", "a: Yes."),),
    ),
    Shape(
        id="ai studio",
        kind=TranscriptKind.AI_STUDIO,
        data='{"runSettings": {"temperature": 1.0, "model": "models/gemini-3-pro", "safetySettings": []}, "systemInstruction": {"text": "Be kind"}, "chunkedPrompt": {"chunks": [{"text": "Ask me", "role": "user", "tokenCount": 2}, {"text": "thinking aloud", "role": "model", "isThought": true, "tokenCount": 3}, {"text": "Asked.", "role": "model", "finishReason": "STOP", "tokenCount": 1}], "pendingInputs": [{"text": "", "role": "user"}]}}',
        said=(("u: Ask me", "a: (thinks) thinking aloud", "a: Asked."),),
        models=("gemini-3-pro",),
    ),
    Shape(
        id="continue",
        kind=TranscriptKind.CONTINUE,
        data='{"sessionId": "s", "title": "Cont", "workspaceDirectory": "/p", "history": [{"message": {"role": "user", "content": [{"type": "text", "text": "Explain"}], "id": "1"}, "contextItems": [], "editorState": {}}, {"message": {"role": "assistant", "content": "Explained.", "id": "2"}, "contextItems": [], "promptLogs": []}]}',
        said=(("u: Explain", "a: Explained."),),
        title="Cont",
    ),
    Shape(
        id="goose",
        kind=TranscriptKind.GOOSE,
        data='{"id": "20261001_1", "working_dir": "/p", "description": "Goose talk", "message_count": 2, "total_tokens": 3}\n{"id": null, "role": "user", "created": 1790000000, "content": [{"type": "text", "text": "Honk?"}]}\n{"role": "assistant", "created": 1790000001, "content": [{"type": "text", "text": "Honk."}, {"type": "toolRequest", "id": "c", "toolCall": {"status": "success", "value": {"name": "shell", "arguments": {"command": "ls"}}}}]}\n{"role": "user", "created": 1790000002, "content": [{"type": "toolResponse", "id": "c", "toolResult": {"status": "success", "value": [{"type": "text", "text": "files"}]}}]}\n{"role": "assistant", "created": 1790000003, "content": [{"type": "text", "text": "Files."}]}\n',
        said=(("u: Honk?", 'a: Honk. | (calls shell) {"command": "ls"}', "a: (result) files", "a: Files."),),
        title="Goose talk",
    ),
    Shape(
        id="typingmind",
        kind=TranscriptKind.TYPINGMIND,
        data='{"data": {"chats": [{"id": "c", "chatID": "c", "chatTitle": "Trip", "createdAt": "2026-10-01T08:00:00Z", "updatedAt": "2026-10-01T08:00:00Z", "model": "gpt-5", "messages": [{"uuid": "1", "role": "user", "content": [{"type": "text", "text": "Where?"}], "createdAt": "2026-10-01T08:00:00Z"}, {"uuid": "2", "role": "assistant", "content": "Rome.", "createdAt": "2026-10-01T08:00:01Z", "model": "gpt-5"}]}], "folders": [], "userPrompts": []}}',
        said=(("u: Where?", "a: Rome."),),
        title="Trip",
        models=("gpt-5",),
    ),
    Shape(
        id="jan messages.jsonl",
        kind=TranscriptKind.JAN,
        data='{"id": "1", "object": "thread.message", "thread_id": "t1", "assistant_id": "jan", "role": "user", "content": [{"type": "text", "text": {"value": "Hi", "annotations": []}}], "created_at": 1793000000, "completed_at": 0, "metadata": {}}\n{"id": "2", "object": "thread.message", "thread_id": "t1", "role": "assistant", "content": [{"type": "reasoning", "text": {"value": "hm", "annotations": []}}, {"type": "text", "text": {"value": "Yo", "annotations": []}}], "created_at": 1793000001, "metadata": {}}\n',
        said=(("u: Hi", "a: (thinks) hm | Yo"),),
    ),
    Shape(
        id="anythingllm json",
        kind=TranscriptKind.ANYTHINGLLM,
        data='[{"id": 1, "username": "ann", "workspace": "Docs", "prompt": "Where?", "response": "There.", "sent_at": "2026-10-01T08:00:00.000Z", "rating": null, "attachments": []}, {"id": 2, "username": "ann", "workspace": "Docs", "prompt": "When?", "response": "Now.", "sent_at": "2026-10-01T08:01:00.000Z"}]',
        said=(("u: Where?", "a: There.", "u: When?", "a: Now."),),
        title="Docs",
    ),
    Shape(
        id="big-agi",
        kind=TranscriptKind.BIG_AGI,
        data='{"conversations": [{"id": "b", "messages": [{"id": "s", "role": "system", "purposeId": "Generic", "fragments": [{"ft": "content", "fId": "0", "part": {"pt": "text", "text": "You are"}}], "created": 1}, {"id": "1", "role": "user", "fragments": [{"ft": "content", "fId": "1", "part": {"pt": "text", "text": "Hi"}}], "created": 1793000000000}, {"id": "2", "role": "assistant", "fragments": [{"ft": "content", "fId": "2", "part": {"pt": "ma", "aText": "hm"}}, {"ft": "content", "fId": "3", "part": {"pt": "text", "text": "Yo"}}], "generator": {"mgt": "aix", "name": "gpt-5"}, "created": 1793000001000}], "systemPurposeId": "Generic", "autoTitle": "Greeting", "created": 1793000000000}], "models": {"sources": []}}',
        said=(("u: Hi", "a: (thinks) hm | Yo"),),
        title="Greeting",
    ),
    Shape(
        id="openwebui 2026 array",
        kind=TranscriptKind.OPEN_WEBUI,
        data='[{"id": "o1", "user_id": "u", "title": "Chat", "chat": {"title": "Chat", "models": ["llama"], "history": {"messages": {"1": {"id": "1", "parentId": null, "childrenIds": ["2"], "role": "user", "content": "Hi", "timestamp": 1793000000}, "2": {"id": "2", "parentId": "1", "childrenIds": [], "role": "assistant", "content": "", "output": [{"type": "reasoning", "content": [{"type": "output_text", "text": "hm"}]}, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yo"}]}], "model": "llama", "done": true, "timestamp": 1793000001}}, "currentId": "2"}}, "created_at": 1793000000}]',
        said=(("u: Hi", "a: (thinks) hm | Yo"),),
        title="Chat",
    ),
    Shape(
        id="cc parallel with queue between",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Go"}}\n{"type": "assistant", "uuid": "b1", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"p": "t1"}}], "id": "m", "model": "claude-opus-4-8"}}\n{"type": "assistant", "uuid": "b2", "parentUuid": "b1", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t2", "name": "Read", "input": {"p": "t2"}}], "id": "m", "model": "claude-opus-4-8"}}\n{"type": "user", "uuid": "c1", "parentUuid": "b1", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "r1"}]}}\n{"type": "attachment", "uuid": "q", "parentUuid": "c1", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00Z", "attachment": {"type": "queued_command", "prompt": [{"type": "text", "text": "And docs"}], "commandMode": "prompt"}}\n{"type": "user", "uuid": "c2", "parentUuid": "b2", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "r2"}]}}\n{"type": "assistant", "uuid": "d", "parentUuid": "c2", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "id": "msg_d", "model": "claude-opus-4-8"}}\n',
        said=(
            (
                "u: Go",
                'a: (calls Read) {"p": "t1"}',
                'a: (calls Read) {"p": "t2"}',
                "u: (result) r1",
                "u: And docs",
                "u: (result) r2",
                "a: Done.",
            ),
        ),
    ),
    Shape(
        id="cc compact with args",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Go"}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Ok."}], "id": "msg_b", "model": "claude-opus-4-8"}}\n{"type": "user", "uuid": "c", "parentUuid": "b", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "<command-name>/compact</command-name>\\n<command-message>compact</command-message>\\n<command-args>keep the prices</command-args>"}}\n{"type": "system", "subtype": "compact_boundary", "uuid": "s", "parentUuid": null, "logicalParentUuid": "c", "sessionId": "11111111-1111-1111-1111-111111111111", "content": "Conversation compacted", "timestamp": "2026-11-01T08:00:00Z"}\n{"type": "user", "uuid": "e", "parentUuid": "s", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "This session is being continued from a previous conversation that ran out of context. \\u2026"}, "isCompactSummary": true, "isVisibleInTranscriptOnly": true}\n{"type": "user", "uuid": "f", "parentUuid": "e", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "<local-command-stdout>Compacted</local-command-stdout>"}}\n{"type": "user", "uuid": "g", "parentUuid": "f", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "On"}}\n{"type": "assistant", "uuid": "h", "parentUuid": "g", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "id": "msg_h", "model": "claude-opus-4-8"}}\n',
        said=(("u: Go", "a: Ok.", "u: On", "a: Yes."),),
    ),
    Shape(
        id="cc titles twice",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Go"}}\n{"type": "custom-title", "customTitle": "First", "sessionId": "11111111-1111-1111-1111-111111111111"}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Ok."}], "id": "msg_b", "model": "claude-opus-4-8"}}\n{"type": "ai-title", "aiTitle": "Ai", "sessionId": "11111111-1111-1111-1111-111111111111"}\n{"type": "custom-title", "customTitle": "Second", "sessionId": "11111111-1111-1111-1111-111111111111"}\n',
        said=(("u: Go", "a: Ok."),),
        title="Second",
    ),
    Shape(
        id="cc api error then retry",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Go"}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "API Error: 529 overloaded"}], "id": "msg_b", "model": "<synthetic>"}, "isApiErrorMessage": true}\n{"type": "user", "uuid": "c", "parentUuid": "b", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Again"}}\n{"type": "assistant", "uuid": "d", "parentUuid": "c", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Ok."}], "id": "msg_d", "model": "claude-opus-4-8"}}\n',
        said=(("u: Go", "u: Again", "a: Ok."),),
    ),
    Shape(
        id="cc cumulative rows",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Go"}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm"}], "id": "m", "model": "claude-opus-4-8"}}\n{"type": "assistant", "uuid": "c", "parentUuid": "b", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "So."}], "id": "m", "model": "claude-opus-4-8"}}\n',
        said=(("u: Go", "a: (thinks) Hm", "a: So."),),
    ),
    Shape(
        id="cc first message edited",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "One"}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "1."}], "id": "msg_b", "model": "claude-opus-4-8"}}\n{"type": "user", "uuid": "c", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "One edited"}}\n{"type": "assistant", "uuid": "d", "parentUuid": "c", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "2."}], "id": "msg_d", "model": "claude-opus-4-8"}}\n',
        said=(("u: One edited", "a: 2."), ("u: One", "a: 1.")),
    ),
    Shape(
        id="cc reminder appended",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": [{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": "Do it"}]}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Ok."}], "id": "msg_b", "model": "claude-opus-4-8"}}\n',
        said=(("u: Do it", "a: Ok."),),
    ),
    Shape(
        id="cc teammate and stop hook",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Go"}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Ok."}], "id": "msg_b", "model": "claude-opus-4-8"}}\n{"type": "user", "uuid": "h", "parentUuid": "b", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Stop hook feedback:\\n- run tests"}, "isMeta": true}\n{"type": "user", "uuid": "t", "parentUuid": "h", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "<teammate-message teammate_id=\\"x\\">hi</teammate-message>"}}\n{"type": "assistant", "uuid": "c", "parentUuid": "t", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Tested."}], "id": "msg_c", "model": "claude-opus-4-8"}}\n',
        said=(("u: Go", "a: Ok.", "a: Tested."),),
    ),
    Shape(
        id="cc shell",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "<bash-input>ls</bash-input>"}}\n{"type": "user", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>"}}\n{"type": "user", "uuid": "c", "parentUuid": "b", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "What is x?"}}\n{"type": "assistant", "uuid": "d", "parentUuid": "c", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "A file."}], "id": "msg_d", "model": "claude-opus-4-8"}}\n',
        said=(("u: ! ls", "u: What is x?", "a: A file."),),
    ),
    Shape(
        id="cc summary row names",
        kind=TranscriptKind.CLAUDE_CODE,
        data='{"type": "summary", "summary": "Pump repair", "leafUuid": "b"}\n{"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "user", "content": "Go"}}\n{"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "11111111-1111-1111-1111-111111111111", "timestamp": "2026-11-01T08:00:00.000Z", "cwd": "/w", "isSidechain": false, "message": {"role": "assistant", "content": [{"type": "text", "text": "Ok."}], "id": "msg_b", "model": "claude-opus-4-8"}}\n',
        said=(("u: Go", "a: Ok."),),
        title="Pump repair",
    ),
    Shape(
        id="claude branches leaf",
        kind=TranscriptKind.CLAUDE,
        data='[{"uuid": "u1", "name": "Talk", "summary": "", "created_at": "2026-10-01T08:00:00Z", "updated_at": "2026-10-01T08:00:00Z", "account": {"uuid": "x"}, "chat_messages": [{"uuid": "a", "text": "", "content": [{"type": "text", "text": "Q"}], "sender": "human", "created_at": "2026-10-01T08:00:00Z", "updated_at": "2026-10-01T08:00:00Z", "attachments": [], "files": [], "parent_message_uuid": "00000000-0000-4000-8000-000000000000"}, {"uuid": "b", "text": "", "content": [{"type": "text", "text": "A1"}], "sender": "assistant", "created_at": "2026-10-01T08:00:00Z", "updated_at": "2026-10-01T08:00:00Z", "attachments": [], "files": [], "parent_message_uuid": "a"}, {"uuid": "c", "text": "", "content": [{"type": "text", "text": "A2"}], "sender": "assistant", "created_at": "2026-10-01T08:00:00Z", "updated_at": "2026-10-01T08:00:00Z", "attachments": [], "files": [], "parent_message_uuid": "a"}], "current_leaf_message_uuid": "b"}]',
        said=(("u: Q", "a: A1"), ("u: Q", "a: A2")),
    ),
    Shape(
        id="claude files v2",
        kind=TranscriptKind.CLAUDE,
        data='[{"uuid": "u1", "name": "Talk", "summary": "", "created_at": "2026-10-01T08:00:00Z", "updated_at": "2026-10-01T08:00:00Z", "account": {"uuid": "x"}, "chat_messages": [{"uuid": "a", "text": "", "content": [{"type": "text", "text": "Look"}], "sender": "human", "created_at": "2026-10-01T08:00:00Z", "updated_at": "2026-10-01T08:00:00Z", "attachments": [], "files": [{"file_kind": "image", "file_uuid": "x", "file_name": "cat.png"}], "parent_message_uuid": "00000000-0000-4000-8000-000000000000", "files_v2": [{"file_kind": "image", "file_uuid": "x", "file_name": "cat.png"}]}, {"uuid": "b", "text": "", "content": [{"type": "text", "text": "Cat."}], "sender": "assistant", "created_at": "2026-10-01T08:00:00Z", "updated_at": "2026-10-01T08:00:00Z", "attachments": [], "files": [], "parent_message_uuid": "a"}]}]',
        said=(("u: Look | (file) cat.png", "a: Cat."),),
    ),
    Shape(
        id="takeout json",
        kind=TranscriptKind.TAKEOUT,
        data='[{"header": "Gemini Apps", "title": "Prompted What is a lynx?", "time": "2026-10-01T08:00:00.000Z", "products": ["Gemini Apps"], "activityControls": ["Gemini Apps Activity"], "safeHtmlItem": [{"html": "<p>A <b>cat</b>.</p>\\n"}]}]',
        said=(("u: What is a lynx?", "a: A cat."),),
    ),
    Shape(
        id="zed acp thread",
        kind=TranscriptKind.ZED,
        data='{"title": "T", "messages": [{"User": {"id": "1", "content": [{"Text": "Hi"}]}}, {"Agent": {"content": [{"Text": "Yo"}], "tool_results": {}, "reasoning_details": null}}], "updated_at": "2026-10-01T08:00:00Z", "model": {"provider": "x", "model": "m"}, "version": "0.3.0", "imported": false}',
        said=(("u: Hi", "a: Yo"),),
        title="T",
        models=("m",),
    ),
    Shape(
        id="cline api history",
        kind=TranscriptKind.CLINE,
        data='[{"role": "user", "content": [{"type": "text", "text": "<task>\\nFix\\n</task>"}, {"type": "text", "text": "<environment_details>\\nx\\n</environment_details>"}], "ts": 1793000000000}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": "Ok."}], "ts": 1793000001000}]',
        said=(("u: Fix", "a: (thinks) hm | Ok."),),
    ),
    Shape(
        id="sharegpt system",
        kind=TranscriptKind.SHAREGPT,
        data='[{"id": "1", "conversations": [{"from": "system", "value": "S"}, {"from": "human", "value": "Q"}, {"from": "gpt", "value": "A"}]}]',
        said=(("u: Q", "a: A"),),
    ),
    Shape(
        id="openai jsonl",
        kind=TranscriptKind.SHAREGPT,
        data='{"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]}\n',
        said=(("u: Q", "a: A"),),
    ),
    Shape(
        id="lmstudio",
        kind=TranscriptKind.LM_STUDIO,
        data='{"name": "Chat", "createdAt": 1793000000000, "messages": [{"versions": [{"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "Hi"}]}], "currentlySelected": 0}, {"versions": [{"type": "multiStep", "role": "assistant", "senderInfo": {"senderName": "qwen"}, "steps": [{"type": "contentBlock", "style": {"type": "thinking"}, "content": [{"type": "text", "text": "hm"}]}, {"type": "contentBlock", "content": [{"type": "text", "text": "Yo"}]}]}], "currentlySelected": 0}]}',
        said=(("u: Hi", "a: (thinks) hm | Yo"),),
        title="Chat",
        models=("qwen",),
    ),
    Shape(
        id="librechat",
        kind=TranscriptKind.LIBRECHAT,
        data='{"conversationId": "c", "title": "Chat", "endpoint": "openAI", "options": {}, "branches": true, "recursive": true, "messages": [{"messageId": "1", "conversationId": "c", "parentMessageId": "00000000-0000-0000-0000-000000000000", "sender": "User", "text": "Hi", "isCreatedByUser": true, "children": [{"messageId": "2", "parentMessageId": "1", "sender": "GPT-5", "model": "gpt-5", "isCreatedByUser": false, "text": "", "content": [{"type": "think", "think": "hm"}, {"type": "text", "text": "Yo"}], "children": []}]}]}',
        said=(("u: Hi", "a: (thinks) hm | Yo"),),
        title="Chat",
        models=("gpt-5",),
    ),
    Shape(
        id="cherry topic",
        kind=TranscriptKind.CHERRY_STUDIO,
        data='{"time": 1793000000000, "version": 5, "localStorage": {}, "indexedDB": {"topics": [{"id": "t", "messages": [{"id": "1", "role": "user", "topicId": "t", "createdAt": "2026-10-01T08:00:00Z", "blocks": ["b1"]}, {"id": "2", "role": "assistant", "askId": "1", "model": {"id": "m", "name": "Qwen"}, "createdAt": "2026-10-01T08:00:01Z", "blocks": ["b2", "b3"]}]}], "message_blocks": [{"id": "b1", "messageId": "1", "type": "main_text", "content": "Hi"}, {"id": "b2", "messageId": "2", "type": "thinking", "content": "hm"}, {"id": "b3", "messageId": "2", "type": "main_text", "content": "Yo"}]}}',
        said=(("u: Hi", "a: (thinks) hm | Yo"),),
        models=("Qwen",),
    ),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.id)
def test_a_shape_is_read_as_the_person_saw_it(shape: Shape) -> None:
    check(shape)
