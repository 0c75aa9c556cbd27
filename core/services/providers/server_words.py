"""Words of a server about a failure, in any shape, and their meaning: one table for all vendors and servers."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from itertools import islice
from typing import Any

import msgspec

from core.kernel.codecs import read_json
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import tr
from core.kernel.patterns import late

_MESSAGE = (
    "message",
    "msg",
    "error_message",
    "error_msg",
    "errormessage",
    "status_msg",
    "error_description",
    "faultstring",
    "exception",
    "detail",
    "description",
    "reason",
    "title",
)
_SURE_MESSAGE = ("error_message", "error_msg", "errormessage", "faultstring")
"""Keys that only a failure has. Source: NousResearch/hermes-agent#65738 (read 2026-11)."""

_CODE = ("code", "error_code", "errorcode", "status_code", "statuscode", "status")
_KIND = ("type", "error_type", "object")
_INNER = ("error", "errors", "base_resp", "fault")
"""Keys under which servers put what went wrong. `base_resp`: MiniMax."""

_BEHIND = (
    "cause",
    "raw_error",
    "upstream_error",
    "provider_error",
    "original_error",
    "inner_error",
    "innererror",
    "caused_by",
    "failed_generation",
    "attempts",
    "causes",
    "upstream",
)
"""Keys under which gateways put what the server behind them said."""

_FINE = frozenset(
    [
        "0",
        "200",
        "ok",
        "success",
        "succeeded",
        "true",
        "none",
        "no error",
        "queued",
        "pending",
        "processing",
        "running",
        "in_progress",
        "loading",
        "started",
        "waiting",
    ]
) | {""}
_DEEPEST = 8
_WIDE, _MOST_BESIDE = 3, 5
"""Down to this depth several things beside each other are read, below it one: what a server nests costs no more than it says."""


class ServerWords(msgspec.Struct, frozen=True):
    """A server's words about a failure. Args: message: for a person; code, kind: for a program, empty for none."""

    message: str = ""
    code: str = ""
    kind: str = ""


def is_failure(value: Mapping[str, Any], reply_keys: Collection[str]) -> bool:
    """True if an object that stands where a part of a reply should is a failure. `reply_keys`: what a part has."""
    value = _lower(value)
    if value.get("error") or value.get("errors"):
        return True
    base = value.get("base_resp")
    if isinstance(base, Mapping) and str(base.get("status_code", 0)).lower() not in _FINE:
        return True
    if any(value.get(name) is not None for name in reply_keys if name not in {"type", "message"}):
        return False
    if value.get("success") is False or value.get("object") == "error":
        return True
    sure = (value.get(name) for name in _SURE_MESSAGE)
    if any(isinstance(one, str) and one.strip().lower() not in _FINE for one in sure):
        return True
    has_words = any(isinstance(value.get(name), str) and value[name] for name in _MESSAGE)
    codes = [str(value[name]).lower() for name in _CODE if isinstance(value.get(name), int | str)]
    return bool(value.get("detail")) or (
        has_words and (any(code not in _FINE for code in codes) or len(value) == 1)
    )


def words_of(body: object, depth: int = 0) -> ServerWords:
    """The words in a body of an error, however it is built: the deepest that say something."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return _of_text(body, depth)
    if isinstance(body, list):
        found = [
            words
            for one in body[: _MOST_BESIDE if depth < _WIDE else 1]
            if (words := words_of(one, depth + 1)).message
        ]
        first = found[0] if found else ServerWords()
        return ServerWords(
            message="; ".join(words.message for words in found), code=first.code, kind=first.kind
        )
    if not isinstance(body, Mapping) or depth > _DEEPEST:
        return ServerWords()
    body = _lower(body)
    inner = next((body[name] for name in _INNER if body.get(name)), None)
    deeper = words_of(inner, depth + 1) if inner is not None else ServerWords()
    own = next(
        (words for name in _MESSAGE if (words := words_of(body.get(name), depth + 1)).message), ServerWords()
    )
    told = deeper.message.strip()
    is_code = bool(own.message) and (" " not in told or told.lower() in _phrases())
    message = (
        (own.message if is_code else deeper.message) or own.message or _sentence(body) or _nested(body, depth)
    )
    place = body.get("loc")
    if isinstance(place, list) and message:
        message = f"{'.'.join(map(str, place))}: {message}"
    behind = _upstream(body, depth)
    if behind and behind not in message:
        message = f"{message}: {behind}" if message else behind
    return ServerWords(
        message=message,
        code=deeper.code or own.code or _word(body, _CODE),
        kind=deeper.kind or own.kind or _word(body, _KIND),
    )


@cache
def _phrases() -> frozenset[str]:
    """The words of statuses of HTTP, which Spring puts before those of the failure."""
    from http import HTTPStatus

    return frozenset(one.phrase.lower() for one in HTTPStatus)


def _nested(body: Mapping[str, Any], depth: int) -> str:
    """Words behind a key of the server's own, else the name that AWS gives a failure."""
    behind = [one for one in islice(body.values(), _MOST_BESIDE) if isinstance(one, Mapping)]
    found = (words_of(one, depth + 1).message for one in behind if depth < _WIDE)
    name = body.get("__type")
    return next(filter(None, found), name.rpartition("#")[2] if isinstance(name, str) else "")


def _sentence(body: Mapping[str, Any]) -> str:
    """The first text of several words, where servers name what went wrong by a key of their own."""
    several = (one[0] if isinstance(one, list) and one else one for one in body.values())
    texts = (one for one in several if isinstance(one, str))
    return next(
        (one for one in texts if len(one.split()) > 1 and not one.lstrip().startswith(("{", "[", "<"))), ""
    )


def _lower(body: Mapping[Any, Any]) -> Mapping[str, Any]:
    """The same with its keys in small letters, as AWS and servers of JavaScript do not write them."""
    return {str(name).lower(): value for name, value in body.items()}


def _of_text(text: str, depth: int) -> ServerWords:
    """Words of a text: JSON in it is read, of a web page its title is taken."""
    plain = text.strip()
    if plain.startswith("<"):
        return ServerWords(message=page_title(plain))
    if plain.startswith(("{", "[")) and depth <= _DEEPEST:
        try:
            return words_of(read_json(plain), depth + 1)
        except ValueError:
            pass
    return ServerWords(message=plain)


def _upstream(body: Mapping[str, Any], depth: int) -> str:
    """Words of the server behind a gateway. Source: OpenRouter API "Errors", `metadata.raw` (read 2026-11)."""
    metadata = body.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    behind = [words_of(raw, 2).message] if raw else []
    behind += [words_of(body[name], depth + 1).message for name in _BEHIND if body.get(name)]
    if isinstance(details := body.get("details"), Mapping):
        behind.append(words_of(details, depth + 1).message)
    return next(filter(None, behind), "")


def _word(body: Mapping[str, Any], names: Collection[str]) -> str:
    for name in names:
        value = body.get(name)
        if isinstance(value, str) and value and len(value) < 200 and name != "object":
            return value
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9:
            return str(value)
    return ""


_TITLE = late(r"(?is)<title[^>]{0,200}>([^<]{1,300})|<h1[^>]{0,200}>([^<]{1,300})")
_SAID = late(r"(?is)<(?:pre|h1|h2|p)\b[^>]{0,200}>\s*([^<]{1,300})")
"""The words of a page whose title is no more than "Error", as Express makes it."""
_TAG = late(r"(?s)<(?:script|style)\b.{0,20000}?</(?:script|style)>|<[^>]{0,2000}>")


def page_title(page: str) -> str:
    """The title of a web page, else its first words; its tags are for nobody."""
    from html import unescape

    found = _TITLE.search(page[:64_000])
    if found and (found[1] or "").strip().lower() == "error":
        found = _SAID.search(page[:64_000], found.end()) or found
    text = next(filter(None, found.groups()), "") if found else _TAG.sub(" ", page[:8_000])
    return " ".join(unescape(text).split())[:200] or tr("a web page without a title")


def _any(*words: str) -> re.Pattern[str]:
    return late("(?i)" + "|".join(words))


def _about(thing: str, state: str) -> str:
    """A thing and what is said of it, in one sentence, whichever comes first."""
    between = r"[^.;(\n]{0,50}?"
    return rf"\b(?:{thing})\b{between}\b(?:{state})\b|\b(?:{state})\b{between}\b(?:{thing})\b"


_TOO_MUCH_A_MINUTE = _any(r"request too large.{0,200}(?:tokens per minute|tpm)")


class Meaning(msgspec.Struct, frozen=True):
    """Words of servers and their meaning. Args: is_sure: more than any status or code beside them."""

    kind: FailureKind
    words: re.Pattern[str]
    is_sure: bool = False
    remedy: str = ""


CHECK_ADDRESS = tr("Check the provider's address (base_url) in the settings: it usually ends in /v1")

TOO_MUCH_A_MINUTE = tr("Remove files or old turns, or take a larger plan: waiting does not help")

_NOT = r"(?:doesn'?t|does not|do not|don'?t|cannot|can'?t|not)"
_NOT_THERE = r"(?:not (?:currently |yet )?(?:supported|enabled|available|allowed|implemented)|unsupported|disabled|unavailable)"
_TOOL_USE = r"(?:tools?\b|functions?\b|tool[ _-]?(?:use|call)|function[ _-]?call)"
_FILE = r"(?:images?|pictures?|pdfs?)\b"
_UNWANTED = r"(?:inappropriate|sensitive|harmful|unsafe|prohibited|risky|offensive)"
_TEXT = r"(?:prompt|inputs?|context|conversation|(?:all |the )messages)"
_NO_FIT = r"(?:does not|doesn'?t|do not|don'?t|did not|didn'?t|won'?t|will not|cannot|can'?t|could not|couldn'?t|not|unable to) fit"
_TOO_LONG = r"(?:exceed(?:s|ed|ing)?|too (?:long|large)|(?:longer|greater|larger) than|must (?:be|have) less than|cannot exceed)"


_MONEY = (
    r"(?:inference|usage|monthly|weekly|account|plan|subscription|billing|trial|credit) limits?"
    r"|(?:extra|additional|paid) usage|balances?|credits?|quotas?|funds|budget|wallet|allowance|spend(?:ing)? (?:limit|cap)|billing|subscription|prepaid"
)
_GONE = (
    r"insufficient|not enough|out of|too low|deplet\w+|exhaust\w+|used up|(?:run|ran|running) out|exceed\w*|overdrawn|overdue|unpaid|negative"
    r"|empty|reached|expired|no (?:more|longer active)|zero|inactive|not active|suspended|required|consumed|surpassed"
)

MEANINGS: tuple[Meaning, ...] = (
    Meaning(
        kind=FailureKind.CONTEXT_TOO_LONG, words=_TOO_MUCH_A_MINUTE, is_sure=True, remedy=TOO_MUCH_A_MINUTE
    ),
    Meaning(
        kind=FailureKind.RATE_LIMITED,
        words=_any(
            r"throttl(?:ing|ed)\b|throttlingexception|allocated quota exceeded|too many tokens, please wait"
        ),
        is_sure=True,
    ),
    Meaning(
        kind=FailureKind.DECLINED,
        words=_any(
            r"content_filter\b|content[ -]management policy|(?<!invalid )content filter(?:ing)? polic|responsibleaipolicyviolation",
            r"data_?inspection_?failed|considered high risk|content exists risk|"
            + _UNWANTED
            + r" (?:content|words?|information|material)",
            r"contains? (?:\w+ ){0,2}"
            + _UNWANTED
            + r"\b|blocked by (?:\w+ ){0,2}(?:content|safety|moderation)|(?:content|safety) (?:system|filter|check)s?\b.{0,40}(?:rejected|blocked|refused|triggered)",
            r"(?:rejected|blocked|refused|flagged) by (?:\w+ ){0,2}(?:content|safety|moderation)|guardrail\w* (?:intervened|violat\w+|triggered)|\b(?:input|output) \w{0,10}_?sensitive\b|违规|敏感",
            r"(?:prompt|input|request|content) was (?:flagged|blocked)|flagged (?:as|for)\b|requires moderation|violat\w+ (?:[\w']+ ){0,3}(?:polic\w+|guidelines?|terms of)",
        ),
        is_sure=True,
    ),
    Meaning(
        kind=FailureKind.FORBIDDEN,
        words=_any(
            r"country, region, or territory|location is not supported|not available in your (?:country|region)",
            r"no endpoints (?:found|available) matching|key not allowed to access|key_model_access_denied|does not have access to (?:this |the )?(?:project|organization)",
        ),
        is_sure=True,
    ),
    Meaning(
        kind=FailureKind.BAD_REQUEST,
        words=_any(
            r"(?:image|audio|video|vision|multimodal) input is not supported|"
            + _NOT
            + r" support (?:image|audio|video|vision|multimodal)|mmproj|unknown variant `?image_url"
        ),
        is_sure=True,
        remedy=tr("Remove the picture or recording, or choose a model that accepts it"),
    ),
    Meaning(
        kind=FailureKind.BAD_REQUEST,
        words=_any(
            r"(?:could not|cannot|can'?t|unable to|failed to) (?:process|decode|read|open|parse|load|identify) (?:(?:the|this|your|input|provided|uploaded) ){0,3}"
            + _FILE,
            r"\b(?:invalid|unsupported|corrupt(?:ed)?|broken|malformed) " + _FILE,
            _FILE
            + r"[^.;\n]{0,60}(?:\bnot (?:a )?valid|\bnot (?:represent|match)\b|\bis invalid|\bcorrupt|password[ -]protected|dimensions? exceed)",
        ),
        remedy=tr("Edit the message with the file, remove the file there, and retry"),
    ),
    Meaning(
        kind=FailureKind.BAD_REQUEST,
        words=_any(
            r"only (?:supported|available|usable|accessible|works?) (?:in|on|at|with|by|via|through) (?:the )?/?(?:v\d/)?(?:responses|completions|embeddings|messages|audio|images|realtime)\b",
            r"not a chat model|not (?:supported|accessible|available|usable) (?:in|on|by|with|for|via|through|at) (?:the )?/?(?:v\d/)?chat/completions",
        ),
        is_sure=True,
        remedy=tr("Choose another model: this one takes another kind of request"),
    ),
    Meaning(
        kind=FailureKind.BAD_REQUEST,
        words=_any(
            r"unexpected endpoint|endpoint:? [\w/.-]{3,80} is not supported|(?:invalid|unknown) (?:url|endpoint|route|path)\b|no such (?:route|endpoint|path)\b|cannot (?:post|get) /|could not route to"
        ),
        is_sure=True,
        remedy=CHECK_ADDRESS,
    ),
    Meaning(
        kind=FailureKind.BAD_REQUEST,
        words=_any(
            r"requires? more (?:\w+ ){0,2}memory|(?:insufficient|not enough) (?:\w+ ){0,2}v?ram\b|(?:insufficient|not enough) (?:\w+ ){0,2}memory"
        ),
        is_sure=True,
        remedy=tr("Choose a smaller model, or free memory on the server's machine"),
    ),
    Meaning(
        kind=FailureKind.NO_TOOLS,
        words=_any(
            _NOT
            + r" (?:support|handle|accept|allow|take|use|have|provide|implement) (?:the )?(?:use of )?(?:native )?"
            + _TOOL_USE,
            r"no endpoints found that support tool use",
            r"requires --enable-auto-tool-choice|tool choice requires|--tool-call-parser",
            r"tools? param(?:eter)? requires --jinja",
            r"(?:tools?|(?:tool|function)s?[ _-]?(?:use|calling|calls?|support))[`'\"]?:? (?:(?:is|are|was|were) )?"
            + _NOT_THERE,
            r"(?:no|lacks?|without|unsupported:?) (?:native )?(?:(?:tool|function)s?[ _-]?(?:use|calling|calls?|support)|tools)\b(?! (?:found|were|was|with|matching|for|id))",
            r"(?:unsupported|unrecognized|unknown|"
            + _NOT
            + r" support) (?:parameters?|fields?|arguments?|request arguments?)\b[^.]{0,30}\btools?\b",
        ),
        is_sure=True,
    ),
    Meaning(
        kind=FailureKind.CONTEXT_TOO_LONG,
        words=_any(
            r"maximum context length|context[_ ]?(?:length|window|size|limit)[_ ]?exceeded|tokens_limit_reached",
            r"exceed(?:s|ed)? (?:the )?(?:available |model'?s )?(?:max(?:imum)? )?(?:allowed )?(?:context|input|prompt|sequence)",
            r"longer than the (?:maximum )?(?:model'?s )?(?:model|context) length",
            r"context (?:length|window|size|limit) (?:exceed|of only|is too small|overflow)",
            r"prompt (?:is|has|of) [\d,]+ tokens.{0,60}context (?:length|window|size|limit)",
            r"(?:greater|larger|longer) than the (?:model'?s )?context",
            _about(
                r"context(?: (?:length|window|size|limit|capacity|budget))?|n_?ctx|num_ctx",
                _NO_FIT,
            ),
            _about(
                r"context[ _-](?:length|window|size|limit|capacity|budget)",
                r"only supports?|overflow\w*|overrun\w*|exceed\w*|surpass\w*|exhaust\w*|too (?:long|large|small|short|big)|(?:is|was) full|(?:runs?|ran|running) out of",
            ),
            _about(_TEXT, _NO_FIT + r"|over the (?:model'?s )?(?:token|context)"),
            r"(?<!max_)(?<!image )\b" + _TEXT + r"\b(?:[^.;]|\.(?=\d)){0,60}?\b" + _TOO_LONG,
            r"(?:total|length of all|number of|sum of) (?:the )?(?:prompt |input |messages )?(?:tokens|messages)\b.{0,60}(?:exceed|too long|too many)",
            _about(
                r"max(?:imum)?(?: (?!output|completion|new)\w+)? length|(?:sequence|model|total) length",
                r"exceed\w*|too long|overflow\w*|(?:longer|larger|greater) than",
            ),
            r"max(?:imum)? length of (?:\w+ ){0,2}(?:question|query|prompt|input|messages?|conversation)\b|length of prompt_tokens|max_seq_len|max_model_len|n_ctx\b|prompt token count",
            r"reduce the length of (?:the |your )?(?:messages|prompt|input|conversation)",
            r"inputs?`? (?:tokens )?must have less than|inputs?`? tokens \+ `?max_new_tokens`? must be <=",
            r"token (?:count|limit).{0,60}exceed|exceed(?:s|ed)? (?:the )?(?:model )?token limit|too many (?:input |prompt )?tokens\b",
            r"tokens in (?:the )?(?:request|prompt|input)s? (?:is |are )?(?:more|greater|larger|higher) than",
            r"(?:max(?:imum)?|longest) (?:\w+ ){0,2}(?:sequence|context|input|prompt) (?:length|size) (?:is|of)\b",
            r"max(?:imum)? (?:input|prompt) (?:length|tokens?)|too large for .{0,80}max size: [\d,]+ tokens",
            r"tokens? to keep from the initial prompt is greater|cannot truncate (?:\w+ ){0,3}to \d",
            r"range of input length should be|contextwindowexceeded",
            r"(?<![\d,])[\d,]{3,15} (?:\w{1,20} )?tokens\b[^\n]{0,120}\bcontext\b[^\n]{0,60}[\d,]{3}",
            r"超(?:过|出).{0,12}(?:最大)?(?:长度|上下文|token)|上下文(?:长度)?(?:超|过长)|输入.{0,10}(?:过长|超长)",
        ),
        is_sure=True,
    ),
    Meaning(
        kind=FailureKind.REQUEST_TOO_LARGE,
        words=_any(
            r"(?:image|picture|file|attachment)s?\b(?! dimension).{0,40}(?:exceeds?|too large|too big|size limit)|(?:payload|body|entity|request_too)[ _](?:is )?(?:too )?large"
        ),
    ),
    Meaning(
        kind=FailureKind.NO_QUOTA,
        words=_any(
            r"insufficient[ _](?:account )?(?:balance|credits?|funds|quota)|insufficient_user_quota|余额不足|欠费|arrear",
            r"balance (?:is |was )?(?:insufficient|not enough|depleted|exhausted|negative)|not enough (?:balance|credits?|funds)|overdue (?:balance|payment|bill)|past invoices|account is in good standing",
            r"credit balance is too low|credits? (?:are|is|have been|were) (?:depleted|exhausted|used up)|credits?\b.{0,20}\brun out\b|(?:out of|no|any|more|run out of) (?:\w+ )?credits?\b|out of funds",
            r"add (?:more )?credits?\b|requires (?:more (?:\w+ )?(?:credits?|funds|balance)|at least \$)|purchase (?:more )?credits|payment required|top up|recharge",
            r"spend_limit_reached|spend(?:ing)?[ _](?:limit|cap)|billing_unavailable|not_billable|billing[ _]hard[ _]limit|accountoverdue",
            r"budget_exceeded|exceededbudget|(?:over|exceed(?:s|ed|ing)?) (?:(?:your|their|its|the) )?(?:\w+ )?(?:budget|included credits)|budget (?:has been )?exceeded",
            r"api usage limits|plan does not include|not available on (?:the|your) free (?:tier|plan)|exceeded_current_quota",
            _about(_MONEY, _GONE),
            r"(?:额度|配额|余额|余量)(?:已)?(?:不足|用完|用尽|耗尽|超)|(?:套餐|资源包).{0,8}(?:用完|用尽|耗尽|超|到期)",
        ),
        is_sure=True,
    ),
    Meaning(
        kind=FailureKind.FORBIDDEN,
        words=_any(
            _about(
                r"organi[sz]ation|account|project|team|user|workspace|tenant",
                r"restricted|suspended|deactivated|disabled|banned|blocked|terminated|locked",
            )
        ),
        is_sure=True,
    ),
    Meaning(
        kind=FailureKind.UNKNOWN_MODEL,
        words=_any(
            r"\bmodels?(?:[ _-]?(?:code|id|name))?\b.{0,120}(?:not found|(?:does not|doesn'?t|not) exist|unknown model|not loaded|was not found|is not available|not a valid model|decommissioned|no longer (?:supported|available|served)|has been (?:retired|removed|shut down)|not activated|marked (?:by \w+ )?as legacy|end[- ]of[- ]life)",
            r"(?:could not|cannot|can'?t|unable to|failed to) (?:find|locate|resolve|load) (?:the )?(?:requested )?model|unknown model|no such model|repository not found|no models? (?:is |are )?loaded|invalid model(?: name| id)?\b|not a valid model|unable to access (?:non-serverless )?model",
            r"no endpoints found for|no (?:healthy )?deployments? (?:available )?for|deployment\b.{0,60}(?:does not exist|not found)|the requested model .{0,80}(?:is not supported|cannot be)|requested model is not supported",
            r"model_not_supported|\bmodel\b.{1,120}\bis not supported (?:for|in|by) (?:this|your) (?:environment|region|account|plan|endpoint)",
            r"模型.{0,12}(?:不存在|未找到|已下线|未开通)|无可用渠道|model_not_found|model_not_available|no available channel|function '?[\w-]{1,80}'?: not found for account",
        ),
        is_sure=True,
    ),
    Meaning(
        kind=FailureKind.BAD_KEY,
        words=_any(
            r"(?:api|auth|access)[ _-]?(?:key|token)\b.{0,20}\b(?:(?:is|was) )?(?:not (?:set|configured|provided|given)|unset)"
            r"|security token\b.{0,40}\b(?:expired|invalid)|no_db_connection|no connected db\b"
        ),
        is_sure=True,
    ),
    Meaning(
        kind=FailureKind.OVERLOADED,
        words=_any(
            r"(?:服务|系统|模型|服务器)(?:器|当前|暂时)?(?:繁忙|过载)|负载(?:过高|已满|已经饱和)|degraded function|overloaded|at capacity|(?:services?|servers?|engines?|systems?|models?|workers?|slots?|instances?|gpus?) (?:(?:is|are) )?(?:currently )?(?:all )?(?:too )?busy|capacity (?:is )?(?:exceeded|constraints?)",
            r"loading model|model is (?:currently |still )?loading|temporarily unavailable|queue is full|no (?:available|healthy) (?:server|instance|upstream)",
        ),
    ),
    Meaning(
        kind=FailureKind.RATE_LIMITED,
        words=_any(
            r"限流|速率限制|频率(?:限制|超|过)|请求(?:过于频繁|过快|过多)|并发.{0,6}(?:超|上限|限制)|rate[ _-]?limit|too[ _]many[ _]requests|requests?[ _]per[ _](?:minute|second|day)|\bqps\b|concurrency limit|\b[rt]pm\b"
        ),
    ),
    Meaning(
        kind=FailureKind.BAD_KEY,
        words=_any(
            r"(?:密钥|令牌|api ?key).{0,6}(?:无效|错误|过期|不正确)|无效的(?:令牌|密钥|api)|(?:鉴权|认证)失败|(?:invalid|incorrect|missing|expired|no) (?:api|auth)[ _-]?(?:key|token)|(?:api|access|auth)[ _-]?(?:key|token)\b.{0,20}\b(?:missing|malformed|invalid|expired|revoked|required|not valid|incorrect)|invalid (?:token|credentials)|unauthorized|authentication (?:failed|error|fails)|no auth credentials|login fail|subscription key"
        ),
    ),
    Meaning(
        kind=FailureKind.FORBIDDEN,
        words=_any(
            r"(?:(?<!inputs are )not (?:allowed|permitted|authorized)|no permission|permission denied|access denied|(?<!extra_)forbidden)\b"
        ),
    ),
    Meaning(
        kind=FailureKind.BAD_REQUEST,
        words=_any(
            r"(?<!cuda error: )(?<!hip error: )(?:invalid|illegal) (?:\w+ ){0,2}(?:parameters?|arguments?|requests?)\b|(?:input|request|schema) validation (?:error|failed)"
        ),
    ),
)
"""Words of servers that say more than a status, the most telling first.

Source: error bodies in the public issues of vLLM, SGLang, llama.cpp, Ollama, LM Studio, OpenRouter, Groq, TGI, LiteLLM, Mistral,
DeepSeek, Moonshot, Z.ai, MiniMax, DashScope, xAI, Bedrock, Azure and their documents of errors (read 2026-11).
"""

_OF_BYTES = _any(r"\b(?:images?|pictures?|files?|base64|[mk]b|bytes)\b")
_OF_TIME = _any(
    r"rate[ _-]?limit|retry (?:in|after)|per[ _](?:min|minute|second|hour|day)(?![a-z])|\b[rt]pm\b|please (?:wait|retry)|try again in"
)

_WAIT = late(
    r"(?i)(?:try again|retry|wait|retrying|again)\b(?: \w+){0,2}? (?:(?:in|after|for|at least):? )?(?P<wait>(?:\d{1,6}(?:\.\d{1,9})? ?"
    r"(?:days?|h(?:ou)?rs?|min(?:ute)?s?|sec(?:ond)?s?|milliseconds?|ms|[dhms])(?:,? (?:and )?)?){1,4})(?!\w)"
)
_UNIT = late(r"(?i)(\d{1,6}(?:\.\d{1,9})?) ?(ms|milli|[dhms])")
_UNIT_S = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


def wait_told_s(message: str) -> float | None:
    """Seconds that a server asks to wait in its words ("Please try again in 6m0.5s"), None where it names none.

    Source: OpenAI, Groq, Azure, Gemini and GitHub Models, messages of rate limits (read 2026-11).
    """
    found = _WAIT.search(message)
    if found is None:
        return None
    return sum(float(one[1]) * _UNIT_S[one[2].lower()] for one in _UNIT.finditer(found["wait"]))


_OF_MONEY = _any(
    r"\b(?:balance|credits?|funds|budget|wallet|recharge|top up|payment|purchase|spend\w*|pay|paid|plan does not|add credits?|upgrade to a paid)\b|余额|欠费"
)
"""Words of money, which no wait gives back; a quota alone may be one of a minute."""


def is_too_much_a_minute(message: str) -> bool:
    """True of a request that is larger than a whole minute's allowance: no wait makes room for it."""
    return bool(_TOO_MUCH_A_MINUTE.search(message))


def meaning(words: ServerWords, status: int | None, *, is_sure: bool = False) -> FailureKind | None:
    """The kind of failure that a server's words tell, None where they tell none beyond the status.

    Args:
        status: of HTTP, None for a failure within a stream: there words are all that there is.
        is_sure: only what says more than a code or a type beside the words.
    """
    found = _found(words, status)
    return found.kind if found is not None and (found.is_sure or not is_sure) else None


def remedy_of(words: ServerWords, status: int | None) -> str:
    """The remedy for these words where that of the kind does not help, empty otherwise."""
    found = _found(words, status)
    return found.remedy if found is not None else ""


def _found(words: ServerWords, status: int | None) -> Meaning | None:
    text = f"{words.code} {words.kind} {words.message}"
    return next(
        (one for one in MEANINGS if one.words.search(text) and _holds(one, words.message, status)), None
    )


def _holds(one: Meaning, message: str, status: int | None) -> bool:
    """True if words mean what they say under this status."""
    kind = one.kind
    if kind is FailureKind.CONTEXT_TOO_LONG:
        if is_too_much_a_minute(message):
            return True
        return status not in {401, 402, 403, 429} and not (
            _OF_TIME.search(message) or (_OF_BYTES.search(message) and "token" not in message.lower())
        )
    if kind is FailureKind.NO_QUOTA:
        return status not in {404, 413} and not (_OF_TIME.search(message) and not _OF_MONEY.search(message))
    if kind is FailureKind.UNKNOWN_MODEL:
        return status in {None, 200, 400, 404, 410, 422, 500, 502}
    if kind is FailureKind.OVERLOADED:
        return status not in {401, 402, 403, 404, 413}
    return one.is_sure or status in {None, 200, 400, 500}


_OF_REASONING = late(
    r"(?i)signature|prefix_binding|bound to a different|redacted_thinking|thinking` block|thinking block"
    r"|encrypted[_ ]content|reasoning (?:item|block|content)|of type [`'\"]reasoning\b"
    r"|without its required [`'\"]reasoning[`'\"] item"
)
"""Words of a refusal that is about reasoning that came back: expired, of another model, behind another conversation, or in part.

Source: Anthropic "Extended thinking"; OpenAI `invalid_encrypted_content`, vercel/ai#7099, continuedev/continue#10018; Gemini "Thought signatures" (read 2026-11).
"""
_IS_MISSED = late(r"(?i)\bmissing\b|must be passed back")
"""Words of a server that wants reasoning back, and refuses none: DeepSeek, Moonshot (read 2026-11)."""
_BAD_REQUEST = 400


def is_reasoning_missed(words: str) -> bool:
    """True of words of a server that wants reasoning back beside the calls of the past."""
    return _IS_MISSED.search(words) is not None and _OF_THINKING.search(words) is not None


_OF_THINKING = late(r"(?i)\bthinking\b|reasoning_content")


_UNKNOWN = late(
    r"(?i)not (?:be )?(?:supported|allowed|permitted|accepted|recogni[sz]ed)|(?:does|do|is) not (?:support|allow|accept)"
    r"|unsupported|unknown|unexpected|unrecogni[sz]ed|extra inputs"
)
"""Words of a server that knows no reasoning in what it is sent."""


def is_reasoning_unknown(error: ProviderError) -> bool:
    """True if a server says that it takes no reasoning at all."""
    return _UNKNOWN.search(error.what) is not None


def is_reasoning_refused(error: ProviderError) -> bool:
    """True if a vendor refused a request for the reasoning in it."""
    is_named = error.status == _BAD_REQUEST and _OF_REASONING.search(error.what) is not None
    return is_named and _IS_MISSED.search(error.what) is None
