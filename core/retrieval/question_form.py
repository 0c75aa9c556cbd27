"""Form of a message, pure: what of it speaks of the talk itself, whether it asks for a whole course, what holds for all that comes.

"Can you list the order in which I brought up the concerts across our talks?" is about concerts: words of asking, saying and talking
stand in any discussion and find none. It asks for all that was said of them, which is many short parts and not the best few. "Always
put timings in a table" answers no question, and is about each that asks for a schedule.
"""

from __future__ import annotations

import re

from core.kernel.patterns import late
from core.kernel.words import MAX_QUERY_CHARS

_SAID = r"(?:said|mentioned|told|brought up|discussed|recommended|suggested|advised|outlined)"
_SAY = r"(?:say|mention|tell|bring up|discuss|recommend|suggest|advise|outline)"
_AFTER = r"\b(?: (?:you|me|that|about|to you))*"
_TALKS = r"(?:conversations|discussions|chats|talks|sessions|messages|requests)"
_FRAMES = late(
    rf"\b(?:did (?:i|you|we) (?:ever )?{_SAY}{_AFTER}"
    rf"|(?:that |which |as |in which )?(?:i|you|we)(?:'ve| have| had)? {_SAID}{_AFTER}(?: them| it)?"
    rf"|(?:across|throughout|during|over|in|within|from) (?:all (?:of )?)?(?:(?:our|my|these) (?:\w+ )?{_TALKS}|our (?:conversation|discussion|chat|talk))\b"
    r"|(?:can|could|would|will) you|please|mention only(?: and only)?(?: \w+ items?)?|(?:\w+ )?items only"
    r"|walk me through|tell me(?: about)?|(?:list|give me|show me|provide(?: me with)?) the (?:order|sequence)"
    r"|(?:give|provide|write|make) (?:me )?(?:with )?(?:an?|the) (?:\w+ ){0,2}(?:summary|overview|timeline|recap)(?: of| on)?"
    r"|summari[sz]e(?: for me)?|in (?:the |what )?order(?: in which)?|(?:different )?aspects of"
    r"|(?:habe|hatte) ich(?: dir)?(?: \w+)? (?:gesagt|erwähnt|erzählt)|(?:in|während) (?:all )?unseren (?:gesprächen|diskussionen|chats)"
    r"|(?:kannst|könntest) du(?: mir)?|bitte|(?:gib|schreib|mach) mir (?:eine?n? )?(?:\w+ )?(?:zusammenfassung|überblick)(?: über)?)\b",
    re.IGNORECASE,
)
_COURSES = late(
    r"\b(?:summar(?:y|ise|ize)|overview|recap|timeline|in (?:the |what |which )?order|the order|sequence|history of|altogether|in total"
    r"|how (?:many(?! (?:days?|weeks?|months?|years?|hours?|minutes?|seconds?|times?)\b)|often)|throughout|over time|across|everything"
    r"|developed|progressed|evolved"
    r"|zusammenfass\w*|überblick|reihenfolge|wie (?:viele(?! (?:tage|wochen|monate|jahre|stunden|minuten)\b)|oft)|insgesamt"
    r"|résume[rz]?|aperçu|dans quel ordre|combien d|resumen|resúmeme|en qué orden|cuánt[oa]s|riassum\w*|in che ordine|quant[ei]|quant[oa]s"
    r"|сколько|обзор|в каком порядке)\b|总结|概述|顺序|多少|几[次个]|まとめ|順番|いくつ|何回|요약|순서|몇",
    re.IGNORECASE,
)
_WISHES = late(
    r"\b(?:always|(?<!i've )(?<!have )(?<!had )(?<!i )(?<!was )never|whenever|every time|from now on|in (?:the )?future"
    r"|i(?:'d| would)? (?:much )?(?:prefer|rather)|prefers|my preference|i (?:don't like|want you to)|keep in mind|remember to"
    r"|please (?:do not|don't|avoid|use|keep|name|put|include|add)"
    r"|immer|niemals|künftig|ab (?:jetzt|sofort)|jedes ?mal|ich (?:bevorzuge|mag lieber|hätte lieber)"
    r"|toujours|désormais|dorénavant|à chaque fois|je préfère|siempre|a partir de ahora|cada vez|prefiero"
    r"|sempre|d'ora in poi|ogni volta|preferisco|prefiro|a partir de agora|всегда|впредь|каждый раз|предпочитаю)\b"
    r"|总是|始终|一律|以后都|更喜欢|必ず|いつも|今後は|の方が好き|항상|앞으로",
    re.IGNORECASE,
)


def subject_of(text: str) -> str:
    """A message without what speaks of the talk itself; as it is where nothing else is left. Of a long one the beginning is read."""
    left, frames = _FRAMES.subn(" ", text[:MAX_QUERY_CHARS])
    return " ".join(left.split()).lstrip(" ,.?!") if frames and any(c.isalnum() for c in left) else text


def asks_for_course(text: str) -> bool:
    """True for a message that asks how many, in which order or how all went along. Of a long one the beginning is read."""
    return _COURSES.search(text[:MAX_QUERY_CHARS]) is not None


def is_wish(text: str) -> bool:
    """True for words that hold for what comes: how something is to be done, or what somebody prefers. O(text)."""
    return _WISHES.search(text) is not None
