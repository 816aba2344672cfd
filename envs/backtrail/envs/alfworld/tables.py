"""What the things of a household are: where each kind may be put, and what may be done to it.

All of it is counted from the official games ("ALFRED/ALFWorld games, json_2.1.3"): `CONTAINS` is the union of the
`canContain` facts, `TRAITS` the types that carry each trait in any game (the games never disagree with each other), and
the weights of `GOALS` are percentages of the official games of one task type in one kind of room.
"""

from __future__ import annotations

from typing import NamedTuple


def _words(row: str) -> tuple[str, ...]:
    return tuple(row.split())


def _split(rows: dict[str, str]) -> dict[str, tuple[str, ...]]:
    return {name: _words(row) for name, row in rows.items()}


CONTAINS = _split(
    {
        "ArmChair": "Book Box CellPhone Cloth CreditCard KeyChain Laptop Newspaper Pillow RemoteControl",
        "BathtubBasin": "Cloth DishSponge HandTowel SoapBar",
        "Bed": "BaseballBat BasketBall Book CellPhone Laptop Pillow TennisRacket",
        "Cabinet": (
            "Book Bowl Box CD Candle Cloth Cup DishSponge Glassbottle HandTowel Kettle Ladle Mug Newspaper Pan "
            "PepperShaker Plate Plunger Pot SaltShaker SoapBar SoapBottle SprayBottle TissueBox ToiletPaper Vase "
            "WateringCan WineBottle"
        ),
        "Cart": "Candle Cloth DishSponge HandTowel Plunger SoapBar SoapBottle SprayBottle TissueBox ToiletPaper",
        "CoffeeMachine": "Mug",
        "CoffeeTable": (
            "Book Bowl Box Candle CellPhone CreditCard KeyChain Laptop Newspaper Pen Pencil Plate RemoteControl "
            "Statue TissueBox Vase Watch WateringCan"
        ),
        "CounterTop": (
            "AlarmClock Apple Book Bowl Bread ButterKnife CD Candle CellPhone Cloth CreditCard Cup DishSponge Egg "
            "Fork Glassbottle HandTowel Kettle KeyChain Knife Ladle Laptop Lettuce Mug Pan Pen Pencil PepperShaker "
            "Plate Pot Potato RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon SprayBottle Statue TissueBox "
            "ToiletPaper Tomato Vase WineBottle"
        ),
        "Desk": (
            "AlarmClock BasketBall Book Bowl Box CD CellPhone Cloth CreditCard KeyChain Laptop Mug Pen Pencil "
            "RemoteControl Statue TennisRacket TissueBox Vase Watch WateringCan"
        ),
        "DiningTable": (
            "AlarmClock Apple BaseballBat BasketBall Book Bowl Box Bread ButterKnife CD Candle CellPhone Cloth "
            "CreditCard Cup DishSponge Egg Fork Glassbottle Kettle KeyChain Knife Ladle Laptop Lettuce Mug Newspaper "
            "Pan Pen Pencil PepperShaker Plate Pot Potato RemoteControl SaltShaker SoapBottle Spatula Spoon "
            "SprayBottle Statue TennisRacket TissueBox Tomato Vase Watch WateringCan WineBottle"
        ),
        "Drawer": (
            "Book ButterKnife CD Candle CellPhone Cloth CreditCard DishSponge Fork HandTowel KeyChain Knife Ladle "
            "Newspaper Pen Pencil PepperShaker RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon SprayBottle "
            "TissueBox ToiletPaper Watch WateringCan"
        ),
        "Dresser": (
            "AlarmClock BasketBall Book Bowl Box CD Candle CellPhone Cloth CreditCard KeyChain Laptop Mug Newspaper "
            "Pen Pencil Plate RemoteControl SprayBottle Statue TennisRacket TissueBox ToiletPaper Vase Watch "
            "WateringCan"
        ),
        "Fridge": "Apple Bowl Bread Cup Egg Glassbottle Lettuce Mug Pan Plate Pot Potato Tomato WineBottle",
        "GarbageCan": (
            "Apple Bread CD Cloth DishSponge Egg HandTowel Lettuce Newspaper Pen Pencil Potato SoapBar SoapBottle "
            "SprayBottle TissueBox ToiletPaper Tomato WineBottle"
        ),
        "HandTowelHolder": "HandTowel",
        "LaundryHamper": "Cloth",
        "Microwave": "Apple Bowl Bread Cup Egg Glassbottle Mug Plate Potato Tomato",
        "Ottoman": "Book Box CellPhone CreditCard KeyChain Laptop Newspaper Pillow RemoteControl",
        "Safe": "CD CellPhone CreditCard KeyChain Statue Vase Watch",
        "Shelf": (
            "AlarmClock Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup DishSponge Glassbottle HandTowel "
            "Kettle KeyChain Mug Newspaper Pen Pencil PepperShaker Plate Pot RemoteControl SaltShaker SoapBar "
            "SoapBottle SprayBottle Statue TissueBox ToiletPaper Vase Watch WateringCan WineBottle"
        ),
        "SideTable": (
            "AlarmClock Apple BaseballBat BasketBall Book Bowl Box Bread ButterKnife CD Candle CellPhone Cloth "
            "CreditCard Cup DishSponge Egg Fork HandTowel Kettle KeyChain Knife Laptop Lettuce Mug Newspaper Pan Pen "
            "Pencil PepperShaker Plate Pot Potato RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon "
            "SprayBottle Statue TennisRacket TissueBox ToiletPaper Tomato Vase Watch WateringCan WineBottle"
        ),
        "SinkBasin": (
            "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Glassbottle HandTowel Kettle Knife Ladle Lettuce "
            "Mug Pan Plate Pot Potato SoapBar Spatula Spoon Tomato"
        ),
        "Sofa": "Book Box CellPhone CreditCard KeyChain Laptop Newspaper Pillow RemoteControl",
        "StoveBurner": "Kettle Pan Pot",
        "TVStand": "TissueBox",
        "Toaster": "",
        "Toilet": "Candle Cloth DishSponge HandTowel SoapBar SoapBottle SprayBottle TissueBox ToiletPaper",
        "ToiletPaperHanger": "ToiletPaper",
        "TowelHolder": "Towel",
    }
)
"""Receptacle type to the object types that may be put in it."""

TRAITS = _split(
    {
        "isReceptacleObject": "Bowl Box Cup Mug Pan Plate Pot",
        "cleanable": (
            "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Kettle Knife Ladle Lettuce Mug Pan Plate Pot Potato "
            "SoapBar Spatula Spoon Tomato"
        ),
        "heatable": "Apple Bread Cup Egg Mug Plate Potato Tomato",
        "coolable": "Apple Bowl Bread Cup Egg Lettuce Mug Pan Plate Pot Potato Tomato WineBottle",
        "toggleable": "DeskLamp FloorLamp",
        "sliceable": "Apple Bread Egg Lettuce Potato Tomato",
    }
)
"""Trait, as the problem's facts name it, to the object types that have it."""

FIXED = _words(
    "Bathtub Blinds Chair Curtains DeskLamp FloorLamp HousePlant LaundryHamperLid LightSwitch Mirror Painting Poster "
    "ShowerDoor ShowerGlass Sink StoveKnob Television Window"
)
"""Object types that cannot be picked up."""

ON_FLOOR = ("Boots", "ScrubBrush")
"""Object types that can be picked up but that no receptacle holds."""

HOLDS = _split(
    {
        "DeskLamp": "CoffeeTable Desk Dresser Shelf SideTable",
        "HousePlant": "CoffeeTable CounterTop Desk DiningTable Dresser Shelf SideTable TVStand",
        "PaperTowelRoll": "CounterTop DiningTable GarbageCan Shelf SideTable Toilet",
        "TeddyBear": "Bed",
        "Television": "CoffeeTable Dresser SideTable TVStand",
    }
)
"""Object types that stand on a receptacle from the start though no action could put them there, and on which."""

OBJECT_TYPES = sorted(set().union(FIXED, ON_FLOOR, HOLDS, *CONTAINS.values()))
"""All object types."""

TOOLS = {
    "pick_clean_then_place_in_recep": "SinkBasin",
    "pick_heat_then_place_in_recep": "Microwave",
    "pick_cool_then_place_in_recep": "Fridge",
}
"""Receptacle type that a task type needs besides the goal's."""


class GoalWeights(NamedTuple):
    """How often goals of one task type are set in one kind of room, with which objects and receptacles."""

    kind: str
    weight: int
    objects: dict[str, int]
    receptacles: dict[str, int]


def _goals(kind: str, weight: int, objects: str, receptacles: str) -> GoalWeights:
    return GoalWeights(kind, weight, _weights(objects), _weights(receptacles))


def _weights(row: str) -> dict[str, int]:
    words = _words(row)
    return {name: int(weight) for name, weight in zip(words[::2], words[1::2], strict=True)}


GOALS: dict[str, tuple[GoalWeights, ...]] = {
    "pick_and_place_simple": (
        _goals(
            "kitchen",
            11,
            "PepperShaker 16 Glassbottle 10 Kettle 10 SaltShaker 10 Tomato 10 ButterKnife 7 WineBottle 7 Egg 5 Pan 5 "
            "Bowl 3 Bread 3 DishSponge 3 Potato 3 Fork 2 Knife 2 Lettuce 2 SoapBottle 1",
            "Microwave 18 Drawer 17 DiningTable 13 Cabinet 12 CounterTop 10 Shelf 10 Fridge 8 SideTable 8 "
            "StoveBurner 3 GarbageCan 1",
        ),
        _goals(
            "living",
            27,
            "RemoteControl 14 KeyChain 12 CreditCard 9 Book 9 Box 9 Statue 8 Newspaper 8 Laptop 7 Pillow 7 Vase 6 "
            "Watch 6 TissueBox 3 Bowl 1 Plate 1",
            "ArmChair 26 Sofa 25 CoffeeTable 20 Ottoman 9 SideTable 6 Dresser 5 Safe 4 Drawer 3 GarbageCan 1 "
            "DiningTable 1 Shelf 1",
        ),
        _goals(
            "bedroom",
            30,
            "CellPhone 21 CD 12 Book 12 Pencil 12 KeyChain 10 AlarmClock 9 Pen 8 CreditCard 6 Mug 4 Laptop 2 "
            "RemoteControl 1 Statue 1 TissueBox 1 Pillow 1 Watch 1",
            "Desk 24 Shelf 17 SideTable 14 Dresser 14 Bed 8 ArmChair 6 Safe 6 DiningTable 5 Drawer 3 Cabinet 1 "
            "GarbageCan 1",
        ),
        _goals(
            "bathroom",
            33,
            "ToiletPaper 21 SoapBottle 20 SprayBottle 19 Candle 19 HandTowel 10 Cloth 4 TissueBox 3 SoapBar 2 "
            "DishSponge 2",
            "Toilet 35 GarbageCan 17 ToiletPaperHanger 16 CounterTop 10 Cabinet 9 Drawer 6 Cart 5 SideTable 2 "
            "Dresser 1 Shelf 1",
        ),
    ),
    "look_at_obj_in_light": (
        _goals(
            "living",
            16,
            "Newspaper 26 Box 19 Pillow 15 Statue 11 TissueBox 8 Laptop 6 Plate 6 Watch 6 Vase 4",
            "DeskLamp 100",
        ),
        _goals(
            "bedroom",
            84,
            "AlarmClock 16 Pillow 14 CD 14 Book 12 Pencil 9 Bowl 8 Laptop 6 Pen 6 CellPhone 3 Mug 2 Statue 2 "
            "TissueBox 2 CreditCard 2 KeyChain 2 Vase 1 Watch 1",
            "DeskLamp 100",
        ),
    ),
    "pick_clean_then_place_in_recep": (
        _goals(
            "kitchen",
            76,
            "Kettle 9 Ladle 8 Knife 7 Mug 7 Lettuce 6 Spatula 6 ButterKnife 6 Pan 6 Bowl 5 Plate 5 Tomato 5 Egg 5 "
            "Spoon 5 Apple 5 Fork 5 Potato 5 Cup 4 Pot 3 DishSponge 1",
            "DiningTable 19 CounterTop 16 Drawer 11 Microwave 10 Fridge 8 Cabinet 7 SideTable 7 StoveBurner 7 "
            "CoffeeMachine 7 Shelf 6 GarbageCan 2",
        ),
        _goals(
            "bathroom",
            24,
            "SoapBar 56 Cloth 32 DishSponge 12",
            "CounterTop 20 Toilet 20 Drawer 17 Cabinet 17 GarbageCan 11 Cart 7 Shelf 5 Dresser 1",
        ),
    ),
    "pick_heat_then_place_in_recep": (
        _goals(
            "kitchen",
            100,
            "Mug 22 Cup 15 Egg 15 Potato 13 Tomato 12 Apple 12 Plate 8 Bread 2",
            "Fridge 23 Cabinet 16 CounterTop 13 GarbageCan 13 CoffeeMachine 12 DiningTable 9 SideTable 9 Shelf 4",
        ),
    ),
    "pick_cool_then_place_in_recep": (
        _goals(
            "kitchen",
            100,
            "Mug 14 Pot 10 Pan 9 Bowl 9 Apple 8 Potato 8 Bread 8 Cup 7 Lettuce 7 Tomato 7 Plate 5 Egg 4 WineBottle 3",
            "Microwave 19 CounterTop 18 DiningTable 17 Cabinet 12 CoffeeMachine 9 GarbageCan 8 Shelf 8 StoveBurner 7 "
            "SideTable 2",
        ),
    ),
    "pick_two_obj_and_place": (
        _goals(
            "kitchen",
            15,
            "PepperShaker 19 SaltShaker 19 Cup 11 Lettuce 8 Spatula 5 Kettle 5 WineBottle 5 Spoon 4 Egg 3 "
            "Glassbottle 3 Ladle 3 Potato 3 Bread 2 Knife 2 Pan 2 Pot 2 Tomato 2 Apple 1",
            "Drawer 24 Cabinet 18 Fridge 15 Shelf 10 CounterTop 9 DiningTable 8 Microwave 8 SideTable 5 GarbageCan 2",
        ),
        _goals(
            "living",
            26,
            "RemoteControl 19 Newspaper 16 CreditCard 16 KeyChain 8 Vase 6 TissueBox 5 CellPhone 5 Statue 4 Watch 4 "
            "Pillow 4 Plate 2 Box 2 Book 1 Bowl 1 Laptop 1 Pen 1 Pencil 1 WateringCan 1",
            "ArmChair 28 CoffeeTable 23 Sofa 22 Dresser 5 Ottoman 5 Drawer 4 DiningTable 3 GarbageCan 3 SideTable 3 "
            "Shelf 2 Desk 1 Safe 1",
        ),
        _goals(
            "bedroom",
            29,
            "CellPhone 17 Book 14 CD 12 Pen 10 Pencil 10 AlarmClock 9 CreditCard 7 KeyChain 7 Laptop 3 Bowl 2 "
            "TissueBox 2 Mug 2 Watch 2 Pillow 1 Vase 1",
            "Desk 22 Drawer 16 Dresser 14 Bed 12 SideTable 11 Shelf 10 DiningTable 4 Safe 4 GarbageCan 3 ArmChair 2 "
            "Cabinet 1",
        ),
        _goals(
            "bathroom",
            29,
            "SprayBottle 25 ToiletPaper 19 SoapBottle 18 Candle 14 SoapBar 9 HandTowel 6 TissueBox 4 DishSponge 3 "
            "Cloth 2",
            "Toilet 25 Cabinet 18 Drawer 17 GarbageCan 17 CounterTop 10 Cart 6 Shelf 4 Dresser 1 SideTable 1",
        ),
    ),
}
"""Task type to its goals; the receptacle of `look_at_obj_in_light` is the lamp to look under."""
