"""Sentences of the generated shop: how listings praise a product and how buyers ask for one.

In all of them ``{x}`` is an attribute, ``{head}`` what the product is called, and ``{this}`` and ``{be}`` agree with
it; a capital letter at the start of the name asks for one in the text.
"""

from __future__ import annotations

__all__ = ["ASKS", "BULLETS", "CLOSERS", "DESCRIPTIONS", "GIFTS", "NOT_NOUNS", "OPTION_PHRASES", "POLITE"]

BULLETS = {
    "is": (
        "{X}: {this} {head} {be} {x} from the first day to the last.",
        "{X} - what we promise about {this} {head}, we check before it ships.",
        "{This} {head} {be} {x}, so there is one thing less to think about.",
        "We were asked for {query} that would be {x}; here is our answer.",
        "Truly {x}, not only on the label of {this} {head}.",
    ),
    "has": (
        "{X}: one of the reasons why people come back for {this} {head}.",
        "Made with {x}, and you notice it at once.",
        "{This} {head} {come} with {x} and nothing that you do not need.",
        "Only {brand} adds {x} where others cut corners.",
        "{X} - chosen with care, tested at home.",
    ),
    "for": (
        "For {x}: {this} {head} {be} at home there.",
        "{X} - this is what our {head} {be} meant for.",
        "A good choice for {x}, or as a present for somebody who cares.",
        "Works well for {x}, and for a good deal more than that.",
        "Designed from the beginning with {x} in mind.",
    ),
}
"""Feature lines about an attribute, by how the product relates to it: it is, has, or is for that."""

DESCRIPTIONS = {
    "is": (
        "Our {head} {be} {x} and will stay so.",
        "If you have been looking for something {x} among {query}, your search may end here.",
        "Being {x} is the least that one may expect, and we mean it.",
        "{This} {head} {be} {x} and simple to live with.",
    ),
    "has": (
        "Thanks to {x}, {this} {head} {do} what others only announce.",
        "You get {x} at a fair price, and no extras that nobody uses.",
        "We added {x} because our customers kept asking us for it.",
        "Ask anybody who owns one: it is {x} that makes the difference.",
    ),
    "for": (
        "Many of our customers order {this} {head} for {x}.",
        "Whether for {x} or simply for yourself, you will be glad of it.",
        "{This} {head} {be} just right for {x}.",
        "Think of {x}, and then think of {brand}.",
    ),
}

CLOSERS: dict[str, tuple[str, ...]] = {
    "beauty": (
        "Please read the leaflet before the first use.",
        "Keep out of the reach of small children.",
        "We develop in small runs and change nothing that works.",
        "The box is made of recycled card.",
    ),
    "electronics": (
        "A printed guide with large pictures is included.",
        "Our support answers within one working day.",
        "Every unit is switched on and tested before it leaves us.",
        "Two years of warranty are included.",
    ),
    "garden": (
        "Colors may look a little different on your screen.",
        "If anything is missing, we send it within two days.",
        "Please check the measurements before you order.",
        "Packed so that it survives the stairs.",
    ),
    "fashion": (
        "Questions about the fit are answered the same day.",
        "Returns are free within thirty days.",
        "Made in small workshops that we visit.",
        "Packed in paper, without any plastic.",
    ),
    "grocery": (
        "Store in a cool and dry place.",
        "The date on the pack is a long way off.",
        "Please read the label if you have allergies.",
        "Made in a family kitchen that has grown.",
    ),
}
"""Sentences that are true of all products of a department."""

GIFTS = (
    "Gift for Friends",
    "Gift for the Family",
    "Gift Idea",
    "Great Value",
    "New Edition",
    "Everyday Favorite",
    "Upgraded Version",
)
"""What titles end with when nothing better comes to mind."""

ASKS = (
    "i'm looking for {thing}{purpose}{equipped}{choice}",
    "i am looking for {thing}{equipped}{choice}{purpose}",
    "please find me {thing}{choice}{equipped}{purpose}",
    "i need {thing}{purpose}{choice}{equipped}",
    "can you get me {thing}{equipped}{purpose}{choice}",
    "i want to buy {thing}{choice}{purpose}{equipped}",
    "i would like {thing}{equipped}{choice}{purpose}",
    "show me {thing}{purpose}{equipped}{choice}",
    "{thing}{equipped}{purpose}{choice} is what i am after",
    "where can i find {thing}{choice}{equipped}{purpose}",
    "my sister told me about {thing}{purpose}{equipped}{choice}, i want one of those",
    "looking to replace my old {head}. i need {thing}{equipped}{choice}{purpose}",
)
"""What buyers write: `thing` is adjectives and noun, the other phrases begin with a space or are empty."""

POLITE = ("", "", "", "", " please", ", thanks", ". it would be great if it came soon", ", any brand will do")

OPTION_PHRASES = {
    "Color": (" in {v}", " in the color {v}", ", {v} if possible", ". the color should be {v}"),
    "Size": (" in size {v}", ", size {v}", " in the {v} size", ". i need the size {v}"),
    "Scent": (" with {v} scent", " that smells of {v}", " in the {v} scent"),
    "Flavor Name": (" in {v} flavor", ", flavor {v}", " with {v} taste"),
    "Style": (" in the {v} style", ", style {v}", ". i prefer the style {v}"),
}
"""How an option's value is asked for; what begins with a full stop goes to the end."""

_PLAIN = (
    "a absolute absorbing abstract accent acid acne activated adhesive adjustable airline airy alcoholic all and "
    "android anti apply artificial assemble assorted athletic b bad baked based basic beaded beige beveled big "
    "black blended blending blonde blue bluetooth boho bold botanical bound braided breathable brown brushed "
    "built burgundy burning by c calming cancelling carrying casual certified chapped charging chewy chilled "
    "clarifying classic clean cleaning clear coastal cold compact compatible competitive compostable controlled "
    "convenient cool cooling cordless cozy cracked creamy crisp crispy crunchy curly curved cushioned cut d daily "
    "damaged dark de decaf decorative deep deluxe detachable dewy diabetic dietary digital dimmable dining dirty "
    "disposable distressed double dreamy dressy dried dry drying dual dusty e easy eat eco efficient elastic "
    "electric embroidered encrypted engineered entry ergonomic essential everlasting everyday external extra "
    "facial faded fair fanless fashioned fast featherlight fed fermented fiery filtering fine firm firming fit "
    "flameless flat flexible floating floral flowy fluffy foldable folding for fragrant framed frameless free "
    "french fresh friendly fruity full fully galvanized gentle geometric glazed glossy golden great green grey "
    "grown handmade hang hanging hard heavy heeled herbal herbed hidden high highly honeyed hot hyaluronic "
    "hydrating iced imported in individually indoor industrial install instant insulated integrated intimate is l "
    "large lasting layered lightly lightweight lined liquid live living long looking loose loud low lumbar "
    "luminous magnetic manual matte mature maxi medium mid midi mild milky milled mini minimalist mixed modern "
    "moroccan mountable mounted multi multigrain narrow natural neutral new nightly no non nutty of off oily old "
    "on one online only open optical oral organic original outdoor over overhead overnight oversized padded "
    "painted patterned persian personal pigmented piped plaid planted plated pleated plucked portable poured "
    "powered pre prepare pressed printed professional prone proof protected purple quick quiet raised raw ready "
    "real rechargeable recycled red reducing regular relaxed reliable remote removable renewed resealable "
    "resistant restoring retro reusable reversible ribbed rich ridged right ripe roasted rocking round royal "
    "ruffled rugged running rustic s safe salted saving scented seamless seasoned second sensitive separate "
    "shatter shedding sheer shielded shockproof short shredded sided silent silky simple single sliding slim "
    "slouchy slow small smart smoked smoky smooth smoothing snug soft solar solid sonic soothing sore sour "
    "sparkling special spiced sprouted stackable stainless straight strapped strappy stretchy striped structured "
    "studded super sweet swimming swivel synthetic t tall tangled tapered tb tempered tender tested textured the "
    "thermal thick thin three tiered tiny to toxic transparent true tufted two ultrawide unframed unisex "
    "unscented up upgraded upholstered upper usable v vegan vertical vintage volumizing w walking warm washable "
    "washed watering waterproof wavy wearable weathered weighted whipped white whole wholesome wicking wide wild "
    "wired wireless with wooden woody working woven wrapped wrinkled x xl xx yellow zero zesty "
)

NOT_NOUNS = frozenset(_PLAIN.split())
"""Words of titles that are not nouns; all others are."""
