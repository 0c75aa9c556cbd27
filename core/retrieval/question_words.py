"""Words of asking by language: what speaks of the talk, what asks for a whole course, what holds for all that comes, mere grammar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from core.kernel.patterns import late
from core.kernel.words import MAX_QUERY_CHARS, SENTENCE_ENDS, STOP_WORDS, words


class QuestionWords(NamedTuple):
    """Expressions of one language, lower case, each with any case of its letters meant.

    Args:
        talk: speak of the talk itself, as "did I tell you about"; their words find no passage.
        course: ask how many, in which order, or how all went along.
        value: ask for one value, as a number, a day or a place; told anew, it has changed.
        wish: say how something is to be done from then on, or what somebody prefers; `^` begins a sentence.
        wish_signs: texts of which each wish holds one: a text without any needs no look.
        change: words by which people say that something is not as it was, folded as `words` folds them.
        grammar: words that carry no subject, folded as `words` folds them and hardly one of them a word of English too, in English
            none of another language; of a script without blanks an expression for runs of its letters.
        is_parted: blanks stand between its words.
    """

    talk: tuple[str, ...]
    course: tuple[str, ...]
    value: tuple[str, ...]
    wish: tuple[str, ...]
    wish_signs: tuple[str, ...]
    change: str = ""
    grammar: str = ""
    is_parted: bool = True


_SAID = "(?:said|mentioned|told|brought up|discussed|recommended|suggested|advised|outlined)"
_SAY = "(?:say|mention|tell|bring up|discuss|recommend|suggest|advise|outline)"
_AFTER = r"\b(?: (?:you|me|that|about|to you))*"
_TALKS = "(?:conversations|discussions|chats|talks|sessions|messages|requests)"

ENGLISH = QuestionWords(
    talk=(
        f"did (?:i|you|we) (?:ever )?{_SAY}{_AFTER}",
        f"(?:that |which |as |in which )?(?:i|you|we)(?:'ve| have| had)? {_SAID}{_AFTER}(?: them| it)?",
        rf"(?:across|throughout|during|over|in|within|from) (?:all (?:of )?)?(?:(?:our|my) (?:\w+ )?{_TALKS}|our (?:conversation|discussion|chat|talk))",
        "(?:can|could|would|will) you|do you (?:still )?(?:remember|recall)|remind me(?: of| about)?",
        r"please|mention only(?: and only)?(?: \w+ items?)?|(?:\w+ )?items only|walk me through|tell me(?: about)?",
        "(?:list|give me|show me|provide(?: me with)?) the (?:order|sequence)|in (?:the |what )?order in which|in what order",
        r"(?:give|provide|write|make) (?:me )?(?:with )?(?:an?|the) (?:\w+ ){0,2}(?:summary|overview|timeline|recap) (?:of|on)",
        "summari[sz]e(?: for me)?|(?:different )?aspects of",
    ),
    course=(
        "summari[sz](?:e|ed|ing)|(?:summary|overview|timeline) (?:of|on|about|for)|recap",
        r"(?:an?|the|me|brief|short|full) (?:summary|overview|timeline)(?=\W*$)",
        "in (?:what|which) order|the (?:order|sequence) (?:in which|that|of (?:my|our|these))",
        r"in order(?=\W*$|[.?!] )|chronological\w*|history of (?:my|our)|altogether|in total|how often",
        "how many(?! (?:days?|weeks?|months?|years?|hours?|minutes?|seconds?|times?)\\b)",
        r"throughout (?:our|my|these|the (?:\w+ )?(?:conversations?|discussions?|chats?))|over time|across (?:all|our|my|these)",
        r"everything (?:that )?(?:i|you|we|he|she|they|about)|how (?:\w+ ){1,12}(?:developed?|progress(?:ed)?|evolved?)",
    ),
    value=(
        "how (?:many|much|long|often|old|far|high|big|large|small|fast|late|early|soon|heavy|tall|short|deep|wide|thick|hot|cold|warm|expensive)|when|where|who|whose",
        "what(?:'s| is| was| are) (?:my|our|his|her|their|its|the) (?!\\w+s\\b)|(?:by |on |at |until )?(?:what|which) (?:time|date|day|year|month|version|port|price|place|number|rate|percentage|floor|size|deadline)",
        r"^(?:am|is|are|was|were|do|does|did|has|have|can|may|will|should)(?:n't)? (?:i|we|he|she|it|they|my|our|his|her|their|the)",
        "what \\w+ (?:rate|count|number|date|time|price|percentage|version|target|budget|quota|deadline)",
        r"what (?:do|does|did) (?:[\w']+ ){1,5}?(?:cost|weigh|measure)",
        r"(?:prefer|favou?rite)\w*|like (?:best|most|better)",
    ),
    wish=(
        r"(?:^|[,;:(] ?|\b(?:please|should|must|shall|(?<!do )you|to|and|but|so|then) )(?:always|never)\b(?! been)",
        r"\bi (?:always|never) (?:want|like|prefer|need)\b|\b(?:whenever|every time) (?:i|you|we)\b",
        r"\bfrom now on\b|^in (?:the )?future\b(?! of)|\bin (?:the )?future[.!]?$",
        r"\bi(?:'d| would)? (?:much )?(?:prefer|rather)\b|\bprefers\b|\bmy preference\b|\bi (?:don't like|want you to)\b",
        r"\bkeep in mind\b|\bremember to\b|\bplease (?:do not|don't|avoid|use|keep|name|put|include|add)\b",
        r"^(?:don't use|do not use|stop using|avoid using)\b",
    ),
    wish_signs=(
        "always",
        "never",
        "whenever",
        "every time",
        "from now on",
        "future",
        "rather",
        "prefer",
        "don't like",
        "want you to",
        "keep in mind",
        "remember to",
        "please ",
        "don't use",
        "do not use",
        "stop using",
        "avoid using",
    ),
    change=(
        "now nowadays longer anymore instead moved switched changed replaced dropped postponed raised lowered reduced increased decreased"
        " extended shortened shifted rescheduled rebooked renamed retired cancelled canceled updated upgraded downgraded revised corrected correction"
        " became grew rose fell stopped quit since finally meanwhile lately recently agreed upped bumped swapped migrated relocated renewed doubled"
        " halved tripled gone sold ended expired newly formerly previously starting turns turned"
    ),
    grammar=(
        "the of and to is are my your our their this that these what which how when where who why does did have has with from you we they"
        " it for at by be not can should"
    ),
)

GERMAN = QuestionWords(
    talk=(
        r"(?:habe|hatte|hab) ich(?: dir)?(?: \w+)? (?:gesagt|erwähnt|erzählt)|habe ich dir(?: schon)? (?:über|von|zu)",
        r"von de(?:m|r|nen) ich(?: dir)?(?: \w+)? (?:erzählt|gesprochen) habe|(?:die|den|das) ich(?: \w+)? erwähnt habe",
        "(?:in|während) (?:all )?unseren (?:gesprächen|diskussionen|chats)|bitte",
        "(?:kannst|könntest) du(?: mir)?(?: sagen)?|wei(?:ß|ss)t du noch|erinnerst du dich(?: noch)?(?: an)?",
        r"(?:gib|schreib|mach) mir (?:eine?n? )?(?:\w+ )?(?:zusammenfassung|überblick)(?: über)?",
    ),
    course=(
        r"zusammenfass\w*|fass\w* .{0,80}\bzusammen|überblick über|reihenfolge|insgesamt|wie oft",
        "wie viele(?! (?:tage|wochen|monate|jahre|stunden|minuten)\\b)|wie (?:hat|haben) sich .{1,60} entwickelt",
    ),
    value=(
        "wie (?:viele?|lange|oft|alt|weit|hoch|groß|klein|schnell|langsam|spät|früh|schwer|teuer|tief|breit|dick|warm|kalt|kurz)|was (?:kostete?|wiegt|wog)|wann|wo|wohin|woher|wer|wem|wen|wessen",
        "(?:was|wie) (?:ist|war|lautet|heißt) (?:mein|dein|unser|sein|ihr|der|die|das)\\w*|(?:welche[rs]?|welchem|welchen) (?:version|uhrzeit|tag|datum|jahr|monat|port|preis|stock|nummer)",
        "^(?:bin|ist|sind|habe|hat|haben|kann|darf|muss|soll) (?:ich|er|sie|es|wir|mein|unser|der|die|das)\\w*",
        r"am liebsten|bevorzug\w*|lieblings\w*",
    ),
    wish=(
        r"(?:^|[,;:(] ?|\b(?:bitte|sollst|solltest|musst) )(?:immer|niemals)\b(?! (?:wenn|mehr|noch|wieder))",
        r"^(?:nutz|benutz|verwend|schreib|nimm|gib|nenn|setz|mach|antwort)e? (?:\w+ ){0,3}?(?:immer|niemals|nie|keine?n?)\b",
        r"\b(?:künftig|in zukunft|ab (?:jetzt|sofort|heute)|jedes ?mal,? wenn (?:ich|du|wir))\b|\bbitte (?:keine?n?|nie)\b",
        r"\bich (?:bevorzuge|mag lieber|hätte lieber|möchte lieber)\b",
    ),
    wish_signs=(
        "immer",
        "niemals",
        "nie",
        "kein",
        "künftig",
        "in zukunft",
        "ab jetzt",
        "ab sofort",
        "ab heute",
        "jedesmal",
        "jedes mal",
        "bevorzuge",
        "lieber",
    ),
    change=(
        "jetzt nun inzwischen mittlerweile seit seitdem statt stattdessen nunmehr neuerdings verschoben geandert gewechselt umgezogen ersetzt"
        " erhoht gesenkt verlangert verkurzt abgesagt ubernommen verlegt gestiegen gesunken umgestellt gekundigt aufgehort verkauft verdoppelt halbiert kunftig"
    ),
    grammar=(
        "der das den dem des ein eine einen einem einer eines ich du er sie wir ihr mich mir dich dir ihn ihm uns euch sich mein meine"
        " meinen meinem meiner meines dein deine deinen deinem deiner unser unsere unseren unserer unserem ihre ihren ihrem ihrer sein"
        " seine seinen seinem seiner wer wen wem wie wann wo wohin woher warum wieso welche welcher welches welchen welchem viel viele"
        " ist sind waren bin bist habe haben hast hatte hatten wird werden wurde kann kannst konnte soll sollte muss mussen darf durfte"
        " im am um auf aus bei mit nach von vom zu zum zur uber fur durch gegen ohne unter vor hinter neben seit bis und oder aber denn"
        " dass gesagt erzahlt erwahnt ob wenn weil als noch schon nur auch sehr mehr nicht kein keine keinen mal dann hier dort es gibt"
    ),
)

FRENCH = QuestionWords(
    talk=(
        "qu'est-ce que je t'ai dit(?: sur| de)?|(?:dont|que) je t'ai (?:déjà )?(?:parlé|dit)|s'il te plaît",
        "te souviens-tu(?: de| du)?|tu te souviens(?: de| du)?|(?:peux|pourrais)-tu(?: me (?:dire|rappeler))?",
        "dans (?:toutes )?nos conversations",
    ),
    course=(
        r"résume[rz]?|résumé (?:d|de|des|du|sur)|aperçu d\w+|dans quel ordre|au total|combien de(?! temps| jours| mois)|combien d['’](?!années|heures)",
        "comment .{1,60} (?:a|ont) évolué|en tout",
    ),
    value=(
        "combien|quand|où|qui(?! est-ce| sont)|quel(?:le)? (?:est|était|jour|heure|date|version|prix|numéro|étage|port|ville)|à quel(?:le)? (?:étage|heure|date)",
        r"préfér\w*|préfère\w*|favorite?s?",
    ),
    wish=(
        r"(?:^|[,;:(] ?|\b(?:il faut|tu dois|merci de) )(?:toujours|ne jamais)\b|^n'utilise\w* (?:pas|jamais)\b",
        r"\b(?:désormais|dorénavant|à partir de maintenant|à chaque fois que (?:je|tu)|je préfère)\b",
    ),
    wish_signs=(
        "toujours",
        "ne jamais",
        "n'utilise",
        "désormais",
        "dorénavant",
        "à partir de maintenant",
        "à chaque fois que",
        "je préfère",
    ),
    change=(
        "maintenant desormais depuis plutot finalement demenage change remplace reporte decale augmente baisse annule demenagee changee remplacee"
        " reportee decalee augmentee annulee deplace deplacee vendu vendue arrete quitte double dorenavant"
    ),
    grammar=(
        "le la les un une des du de au aux je tu il elle nous vous ils elles moi toi lui leur se te mon ma mes ton ta tes ses notre nos"
        " votre vos ce cet cette ces qui que quoi quel quelle quels quelles ou quand combien pourquoi est sont etait ai avons avez ont"
        " avait peut peux dois doit dans avec sans sous chez vers entre par et mais donc ne pas plus tres aussi deja encore y en qu est"
        " ce je se"
    ),
)

SPANISH = QuestionWords(
    talk=(
        "(?:qué )?te (?:dije|conté|he dicho)(?: sobre| de)?|te acuerdas de|recuerdas|puedes decirme|por favor",
        "en nuestras conversaciones|que te (?:dije|conté)",
    ),
    course=(
        r"resumen|resúm[ea]\w*|en qué orden|en total|cuánt[oa]s(?! (?:días|meses|años|horas)\b)|cómo .{1,60} evolucion\w+",
    ),
    value=(
        "cuánt[oa]s?|cuándo|(?:a)?dónde|quién|cuál (?:es|era)|qué (?:día|hora|fecha|versión|precio|número|puerto)",
        r"prefier\w*|favorit\w*",
    ),
    wish=(
        r"(?:^|[,;:(] ?|\bdebes )(?:siempre|nunca)\b|^(?:usa|escribe|pon|responde) (?:\w+ ){0,2}?siempre\b|^no uses\b",
        r"\b(?:a partir de ahora|cada vez que (?:yo|te)|prefiero)\b",
    ),
    wish_signs=("siempre", "nunca", "no uses", "a partir de ahora", "cada vez que", "prefiero"),
    change="ahora ya desde finalmente cambio cambiado cambiamos movio trasladado aplazado aumento subio bajo dejo vendi vendimos pasamos duplico",
    grammar=(
        "el la los las un una unos unas lo al del de yo tu ella nosotros ellos mi mis tus su sus nuestro nuestra nuestros me te se nos le"
        " les que quien cual cuales donde cuando cuanto cuanta cuantos cuantas por porque es esta estan era eran ser fue soy eres tengo"
        " tiene tienen puede puedo debe en con para sobre sin entre desde hasta y o pero ni muy mas ya tambien este esa ese esto eso hay"
    ),
)

ITALIAN = QuestionWords(
    talk=(
        "(?:cosa )?ti ho (?:detto|raccontato)(?: su| di)?|ti ricordi(?: di)?|puoi dirmi|per favore|nelle nostre conversazioni",
    ),
    course=(
        r"riassum\w+|riassunto|in che ordine|in totale|quant[ei](?! (?:giorni|mesi|anni|ore)\b)|quante volte",
    ),
    value=(
        "quant[oaie]|quando|dove|dov'è|chi|qual è|(?:che|quale) (?:giorno|ora|data|versione|prezzo|numero|porta)",
        r"prefer\w*",
    ),
    wish=(
        r"(?:^|[,;:(] ?|\bdevi )(?:sempre\b|mai \w+(?:are|ere|ire)\b)|^(?:usa|scrivi|metti|rispondi) (?:\w+ ){0,2}?sempre\b|^non usare\b",
        r"\b(?:d'ora in poi|ogni volta che|preferisco)\b",
    ),
    wish_signs=("sempre", "mai ", "non usare", "d'ora in poi", "ogni volta che", "preferisco"),
    change="adesso ormai invece spostato spostata cambiato cambiata rimandato rimandata aumentato venduto venduta lasciato smesso",
    grammar=(
        "il lo la gli le un uno una del della dei delle degli dello al alla ai alle nel nella nei nelle dal dalla sul sulla di da con su"
        " per tra fra io lui lei noi voi loro mio mia miei mie tuo tua suo sua nostro nostra mi ti si ci vi che chi cosa quale quali dove"
        " quando quanto quanta quanti quante perche sono era erano ho hai ha abbiamo hanno puo posso deve e o ma non piu anche gia molto"
        " questo questa quello quella"
    ),
)

PORTUGUESE = QuestionWords(
    talk=(
        "(?:o que )?(?:eu )?te (?:disse|contei)(?: sobre)?|você se lembra(?: de| do| da)?|pode me dizer|nas nossas conversas",
    ),
    course=(
        r"resum[oa]|resume (?:tudo|o que|(?:as|os|a|o) (?:noss|minh|meu|su[ao]|seu)\w*)|em que ordem|no total(?=\W*$)",
        r"quant[oa]s(?! (?:dias|meses|anos|horas)\b)",
    ),
    value=(
        "quant[oa]s?|quando|(?:a)?onde|quem|qual (?:é|era)|que (?:dia|hora|data|versão|preço|número|porta)",
        r"prefir\w*|favorit\w*",
    ),
    wish=(
        r"(?:^|[,;:(] ?|\bdeve )(?:sempre|nunca)\b|^(?:use|escreva) (?:\w+ ){0,2}?sempre\b|\b(?:prefiro|a partir de agora|não use)\b",
    ),
    wish_signs=("sempre", "nunca", "prefiro", "a partir de agora", "não use"),
    change="agora mudou mudamos passou passar adiado adiada adiou deixou vendi vendeu aumentou trocamos trocou remarcada",
    grammar=(
        "os as um uma uns umas do da dos das no na nos nas ao aos pelo pela de com para por em sobre sem entre eu tu ele ela nos eles elas"
        " meu minha meus minhas teu tua seu sua nosso nossa lhe que quem qual quais onde quando quanto quanta quantos quantas porque e ou"
        " mas nao mais muito ja tambem foi era sao esta estao tem tenho pode devo deve este esta esse essa isto isso"
    ),
)

RUSSIAN = QuestionWords(
    talk=(
        "что я (?:тебе )?(?:говорил|рассказывал)а?(?: о| об| про)?|(?:ты )?помнишь(?: ли)?|(?:можешь|скажи)(?: мне)?(?: сказать)?",
        "пожалуйста|в наших (?:разговорах|беседах)",
    ),
    course=(
        r"сколько(?! (?:сто\w+|времени|лет|дней|часов|минут)\b)|как часто|обзор|подведи итог\w*|резюмируй|в каком порядке|(?<!больше )(?<!чаще )(?<!скорее )(?<!прежде )(?<!лучше )всего",
    ),
    value=(
        "сколько|когда|где|куда|кто|как(?:ой|ая|ое) (?:у меня|мой|моя|наш\\w*|верси\\w+|порт|номер|срок|цена|день)|какого числа|во сколько",
        r"больше всего|любим\w+",
    ),
    wish=(
        r"(?:^|[,;:(] ?|\b(?:пожалуйста|нужно) )(?:всегда|никогда)\b|\b(?:впредь|каждый раз, когда (?:я|ты)|отныне|предпочитаю)\b|^не используй\b",
    ),
    wish_signs=("всегда", "никогда", "впредь", "каждый раз", "отныне", "предпочитаю", "не используй"),
    change="теперь больше вместо уже перенесли изменили переехали сменили продал продала продали бросил бросила перешли перешла уволился уволилась",
    grammar=(
        "и в во не на я ты он она оно мы вы они мне меня мои моя мое моего моей моем мою твои твоя его ее их нас нам вас вам с со из за к"
        " ко у от до о об по про для при над под что кто где куда когда как какои какая какое какие каком какую какого сколько почему"
        " зачем а но или же ли бы был была было были есть это этот эта эти тот та то уже еще тоже только"
    ),
)

ARABIC = QuestionWords(
    talk=(
        "ماذا قلت لك(?: عن)?|(?:الذي|التي) (?:ذكرته|ذكرتها)(?: لك)?|هل تتذكر|من فضلك|في محادثاتنا",
        r"هل يمكنك(?: أن)?(?: (?:تقول|تخبرني|تذكر))?(?: لي)?",
    ),
    course=(
        r"كم(?! (?:الساعة|السعر|ثمن|سعر|يكلف|تكلف|كلف|كلفت|عمر\w*|يوما|ساعة|سنة|شهرا|دقيقة)\b)",
        r"لخص\w*|ملخص\w*|ال?خلاصة|ب?أي ترتيب|نظرة عامة|إجمالا",
    ),
    value=("كم|متى|أين|ما (?:هو|هي|رقم|سعر|عنوان|موعد|عدد)|أي (?:يوم|ساعة|منفذ|إصدار)",),
    wish=(
        r"^(?:\w+ )?دائما\b|\bمن الآن فصاعدا\b|\bأفضل \w+ (?:\w+ )?على\b|\bلا تستخدم\b|\bكلما\b|^لا \w+ أبدا\b",
    ),
    wish_signs=("دائما", "من الآن فصاعدا", "أفضل", "لا تستخدم", "كلما", "أبدا"),
    grammar=(
        "في من على إلى عن مع أن إن أنا انت أنت هو هي نحن هم هل ما ماذا متى أين كيف كم أي لماذا من لي لك له لها هذا هذه ذلك تلك التي الذي"
        " كان كانت يكون قد لا لم لن أو ثم و ب بين عند بعد قبل كل"
    ),
)

CHINESE = QuestionWords(
    talk=(
        "你?(?:还)?记得|我(?:跟|和|对)你(?:说|提|讲)过?的?|我(?:提到|说过|提过)的?|你?(?:能|可以)?告诉我|请问",
        "在我们的?(?:所有)?(?:对话|谈话|聊天)[中里]?",
    ),
    course=("总结|概述|顺序|多少(?![钱天年岁度])|几[次个本种件位只条张回]|一共|总共",),
    value=(
        "[几谁]|多少|多[久大长高远]|什么时候|哪[天年月里儿位]|在哪",
        r"最喜欢|更喜欢",
    ),
    wish=(
        "(?:^|[,;:。，；：]|请|要|应该?|必须)(?:总是|始终|一律|永远)|以后都|从现在(?:开始|起)|更喜欢|请(?:不要|别|勿)",
    ),
    wish_signs=("总是", "始终", "一律", "永远", "以后都", "从现在", "更喜欢", "请不要", "请别", "请勿"),
    change="现在 不再 改为 改成 改到 搬到 换成 最后 不用 推迟 提前 涨价 降价 涨到 变更",
    grammar="[的了吗呢吧我你他她它们这那什么哪谁]",
    is_parted=False,
)

JAPANESE = QuestionWords(
    talk=(
        "(?:私が)?(?:前に)?(?:言った|話した)(?:こと)?|(?:こと)?を?覚えていますか|を?教えて(?:ください|くれますか)?",
        "私たちの会話(?:の中)?で",
    ),
    course=("まとめて|要約|順番|どの順|いくつ[のをがあ]|何[回度冊個人件本種]",),
    value=(
        "いくつ|いくら|いつ|どこ|誰|だれ|何[時日月年人回度歳分枚台階番]|どの(?:くらい|日|バージョン|ポート)",
        r"一番好き",
    ),
    wish=(
        "必ず.{0,40}(?:ください|して|こと)|いつも.{0,40}(?:ください|こと)|今後は|これからは|(?:ほう|方)が(?:好き|いい)|ないでください",
    ),
    wish_signs=("必ず", "いつも", "今後は", "これからは", "ほうが", "方が", "ないでください"),
    change="変更 移転",
    grammar=r"^[ぁ-ゖ]+$|[私何]",
    is_parted=False,
)

KOREAN = QuestionWords(
    talk=("(?:내가 )?(?:전에 )?(?:말한|말했던)|기억(?:하니|해|나니|하나요)|알려 ?(?:줘|주세요)",),
    course=("요약|순서|몇(?! ?[시월일년살분도])|얼마나 자주",),
    value=("몇|얼마|언제|어디|누구|누가",),
    wish=("항상.{1,30}(?:줘|주세요|세요)|앞으로(?:는)?|지 마세요",),
    wish_signs=("항상", "앞으로", "지 마세요"),
    is_parted=False,
)

LANGUAGES = (
    ENGLISH,
    GERMAN,
    FRENCH,
    SPANISH,
    ITALIAN,
    PORTUGUESE,
    RUSSIAN,
    ARABIC,
    CHINESE,
    JAPANESE,
    KOREAN,
)


# Form of a message, pure: what of it speaks of the talk itself, whether it asks for a whole course, what holds for all that
# comes. "Can you list the order in which I brought up the concerts across our talks?" is about concerts: words of asking, saying
# and talking stand in any discussion and find none. It asks for all that was said of them, which is many short parts and not
# the best few. "Always put timings in a table" answers no question, and is about each that asks for a schedule.


_MARKS = " ,.?!،؟，。？！"
_ENGLISH = frozenset(ENGLISH.grammar.split())
_LEAST_GRAMMAR = 2
"""Words of mere grammar of one language by which a message is in that language: one alone may be a name."""


def _any(parted: Iterable[str], unparted: Iterable[str]) -> re.Pattern[str]:
    return late(rf"\b(?:{'|'.join(parted)})\b|{'|'.join(unparted)}", re.IGNORECASE)


def _said(name: str, *, is_parted: bool) -> list[str]:
    return [words for one in LANGUAGES if one.is_parted is is_parted for words in getattr(one, name)]


_TALK = _any(_said("talk", is_parted=True), _said("talk", is_parted=False))
_COURSE = _any(_said("course", is_parted=True), _said("course", is_parted=False))
_VALUE = _any(_said("value", is_parted=True), _said("value", is_parted=False))
_WISH = late("|".join(words for one in LANGUAGES for words in one.wish), re.IGNORECASE)
_WISH_SIGNS = tuple(dict.fromkeys(sign for one in LANGUAGES for sign in one.wish_signs))
CHANGES = frozenset(word for one in LANGUAGES for word in one.change.split())
"""Words of change of all languages."""
_GRAMMAR_RUN = late("|".join(one.grammar for one in LANGUAGES if one.grammar and not one.is_parted))


@cache
def _grammar() -> tuple[frozenset[str], ...]:
    """Words of mere grammar by language, where English has others."""
    parted = (one.grammar for one in LANGUAGES if one.grammar and one.is_parted and one is not ENGLISH)
    return tuple(frozenset(words(said)) - STOP_WORDS for said in parted)


def subject_of(text: str) -> str:
    """A message without what speaks of the talk itself; as it is where nothing else is left. Of a long one the beginning is read."""
    left, frames = _TALK.subn(" ", text[:MAX_QUERY_CHARS].replace("’", "'"))
    return " ".join(left.split()).lstrip(_MARKS) if frames and any(c.isalnum() for c in left) else text


def telling_terms(terms: Sequence[str], text: str) -> tuple[str, ...]:
    """The terms of a message without those of mere grammar; as they are where nothing else is left.

    Args:
        text: of the message, which tells its language.
    """
    empty = _grammar_in(text)
    left = tuple(one for one in terms if one not in empty and _GRAMMAR_RUN.search(one) is None)
    return left or tuple(terms)


def is_foreign_by_words(text: str) -> bool:
    """True where several words of mere grammar of one language other than English stand in a message. Cheap: no model is asked."""
    return bool(_grammar_in(text))


def _grammar_in(text: str) -> frozenset[str]:
    """Words of mere grammar in a message, of the language other than English that it has most of; empty for English.

    A language counts where several of its words stand there, and more than of English alone: "the OS of my NAS" holds two words
    of Portuguese.
    """
    said = frozenset(words(text[:MAX_QUERY_CHARS]))
    most = max((said & known for known in _grammar()), key=len)
    return most if len(most) >= max(_LEAST_GRAMMAR, len(said & _ENGLISH) + 1) else frozenset()


def asks_for_course(text: str) -> bool:
    """True for a message that asks how many, in which order or how all went along. Of a long one the beginning is read."""
    return _COURSE.search(text[:MAX_QUERY_CHARS].replace("’", "'")) is not None


def asks_for_value(text: str) -> bool:
    """True for a message that asks for one number, day, place or person. Of a long one the beginning is read."""
    return _VALUE.search(text[:MAX_QUERY_CHARS].replace("’", "'")) is not None


def is_wish(text: str) -> bool:
    """True for words that hold for what comes: how something is to be done, or what somebody prefers. O(text)."""
    said = text.replace("’", "'")
    folded = said.casefold()
    if not any(sign in folded for sign in _WISH_SIGNS):
        return False
    return any(map(_WISH.search, SENTENCE_ENDS.split(said)))
