"""How the rooms of a household are furnished, and what lies about in them.

The counts follow the official games ("ALFRED/ALFWorld games, json_2.1.3"), kind of room by kind of room: a tuple or a
string of digits lists typical rooms (or games) and one entry is drawn from it, so it is the distribution itself.
"""

from __future__ import annotations

SIZES = {"bathroom": (10, 21), "bedroom": (7, 27), "kitchen": (20, 54), "living": (6, 35)}
"""Fewest and most receptacles in the official rooms of a kind."""

# One entry a typical room: a room draws one of them, so the tuples are the distribution of counts over rooms.
FURNITURE: dict[str, dict[str, tuple[int, ...]]] = {
    "bathroom": {
        "BathtubBasin": (0, 1, 1),
        "Cabinet": (0, 0, 0, 0, 0, 3, 4, 4, 4, 6),
        "Cart": (0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        "CounterTop": (0, 1, 1, 1, 1, 1, 2),
        "Drawer": (0, 0, 0, 0, 1, 2, 4, 4, 6, 8),
        "Dresser": (0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        "GarbageCan": (1,),
        "HandTowelHolder": (1, 2),
        "Shelf": (0, 0, 0, 0, 0, 0, 0, 1, 1, 3),
        "SideTable": (0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        "SinkBasin": (1, 2),
        "Toilet": (1,),
        "ToiletPaperHanger": (1,),
        "TowelHolder": (1, 1, 1, 2),
    },
    "bedroom": {
        "ArmChair": (0, 0, 0, 0, 0, 0, 0, 0, 1, 2),
        "Bed": (1, 1, 1, 1, 1, 1, 2),
        "Cabinet": (0, 0, 0, 0, 0, 0, 0, 0, 0, 4),
        "Desk": (0, 0, 0, 1, 1, 1, 1, 1, 1, 2),
        "DiningTable": (0, 0, 0, 0, 0, 0, 1),
        "Drawer": (2, 2, 2, 3, 4, 5, 6, 8, 11, 16),
        "Dresser": (0, 0, 0, 0, 0, 1, 1, 1, 1, 2),
        "GarbageCan": (1,),
        "LaundryHamper": (0, 0, 0, 0, 0, 1, 1),
        "Safe": (0, 0, 0, 0, 0, 1),
        "Shelf": (0, 0, 0, 1, 1, 2, 5, 5, 7, 11),
        "SideTable": (0, 0, 0, 1, 1, 1, 1, 1, 2, 2),
    },
    "kitchen": {
        "Cabinet": (4, 8, 10, 10, 12, 13, 15, 18, 20, 26),
        "CoffeeMachine": (1,),
        "CounterTop": (1, 1, 2, 2, 2, 2, 3, 3, 3, 4),
        "DiningTable": (0, 0, 0, 1, 1, 2),
        "Drawer": (1, 3, 3, 3, 4, 4, 5, 6, 9, 20),
        "Fridge": (1,),
        "GarbageCan": (1,),
        "Microwave": (1,),
        "Shelf": (0, 0, 0, 0, 0, 3),
        "SideTable": (0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        "SinkBasin": (1,),
        "StoveBurner": (4,),
        "Toaster": (1,),
    },
    "living": {
        "ArmChair": (0, 1, 1, 1, 1, 1, 1, 2, 2, 3),
        "Cabinet": (0, 0, 0, 0, 0, 0, 4),
        "CoffeeTable": (0, 1, 1, 1, 1, 2),
        "DiningTable": (0, 0, 0, 0, 0, 1, 1, 1, 1, 2),
        "Drawer": (0, 0, 1, 1, 3, 4, 4, 5, 7, 15),
        "Dresser": (0, 0, 0, 1, 1),
        "GarbageCan": (1,),
        "Ottoman": (0, 0, 0, 0, 0, 0, 1),
        "Safe": (0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        "Shelf": (0, 0, 0, 0, 0, 0, 1, 4, 8, 14),
        "SideTable": (0, 0, 1, 1, 1, 1, 2, 2, 3, 4),
        "Sofa": (1, 1, 1, 1, 2),
        "TVStand": (0, 0, 0, 0, 0, 0, 1, 1, 1, 2),
    },
}

# Things that stay where they are: fixed, on a receptacle that could not take them back, or on the floor. A room draws one
# digit of each, as above.
SCENERY: dict[str, dict[str, str]] = {
    "bathroom": {
        "LightSwitch": "1",
        "Mirror": "1",
        "PaperTowelRoll": "000001",
        "Plunger": "1",
        "ScrubBrush": "1",
        "ShowerDoor": "00111",
        "ShowerGlass": "00011",
        "Window": "0001111113",
    },
    "bedroom": {
        "BaseballBat": "0000001111",
        "BasketBall": "0000001111",
        "Blinds": "0111111223",
        "Boots": "0000000001",
        "Box": "0000011111",
        "Chair": "0011111122",
        "Cloth": "0000000012",
        "Curtains": "0000000001",
        "DeskLamp": "0001111112",
        "HousePlant": "0001",
        "LightSwitch": "1",
        "Mirror": "1",
        "Painting": "0000001113",
        "Poster": "0000000012",
        "TeddyBear": "001",
        "Television": "0000000001",
        "TennisRacket": "0000001111",
        "Window": "1111112224",
    },
    "kitchen": {
        "Blinds": "00001",
        "Chair": "0111112222",
        "Curtains": "0000000001",
        "HousePlant": "0000011111",
        "LightSwitch": "1",
        "Mirror": "0000000001",
        "PaperTowelRoll": "00011",
        "StoveKnob": "4",
        "Window": "0111111223",
    },
    "living": {
        "Boots": "00001",
        "Chair": "0001124468",
        "Curtains": "0000000113",
        "DeskLamp": "0001",
        "FloorLamp": "1",
        "HousePlant": "1111111112",
        "LightSwitch": "1",
        "Mirror": "0000000001",
        "Painting": "1111222234",
        "Television": "1",
        "WateringCan": "01",
        "Window": "0112222347",
    },
}

# Things a game scatters: the share of rooms that have the types, one digit for each likely number in a game, the types.
CONTENTS: dict[str, tuple[tuple[float, str, str], ...]] = {
    "bathroom": (
        (1.0, "123", "Candle Cloth SoapBar SoapBottle SprayBottle"),
        (1.0, "223", "ToiletPaper"),
        (1.0, "11112", "HandTowel Towel"),
        (0.25, "123", "DishSponge TissueBox"),
    ),
    "bedroom": (
        (1.0, "123", "CD CellPhone CreditCard KeyChain Pen Pencil"),
        (1.0, "11223", "AlarmClock Book"),
        (1.0, "11123", "Laptop Pillow"),
        (0.5, "1223", "Bowl Mug"),
        (0.13, "123", "RemoteControl Statue TissueBox"),
        (0.07, "123", "Vase Watch"),
    ),
    "kitchen": (
        (1.0, "123", "Apple Bowl ButterKnife Cup DishSponge Egg Fork Knife Mug PepperShaker Plate Potato SaltShaker"),
        (1.0, "123", "SoapBottle Spatula Spoon Tomato"),
        (1.0, "11112223", "Bread Lettuce Pot"),
        (1.0, "112", "Pan"),
        (0.5, "11223", "Kettle"),
        (0.35, "123", "Glassbottle Ladle WineBottle"),
        (0.15, "123", "CellPhone CreditCard Statue Vase"),
        (0.07, "123", "Book Pen Pencil SprayBottle"),
    ),
    "living": (
        (1.0, "123", "CreditCard KeyChain RemoteControl Statue"),
        (1.0, "112", "Box Laptop"),
        (1.0, "11111112", "Pillow"),
        (0.6, "234", "Vase"),
        (0.6, "123", "Newspaper Watch"),
        (0.3, "123", "Book Plate TissueBox"),
        (0.2, "123", "CellPhone Pen Pencil"),
        (0.1, "123", "Bowl Candle"),
    ),
}

OPENABLE = {"Cabinet": 0.82, "Drawer": 0.84, "Fridge": 1.0, "Microwave": 1.0, "Safe": 0.87}
"""Receptacle type to the share that has a door or can be pulled out (all start closed); the others are open."""

FIXTURES = {"BathtubBasin": "Bathtub", "LaundryHamper": "LaundryHamperLid", "SinkBasin": "Sink"}
"""Receptacle type to the object type that is built in with it."""

# Receptacles reached from where another one is reached: how often, and from which. In three official rooms of four an agent
# finds such a pair, for which "go to" the one, said while standing at the other, does nothing.
SHARED: dict[str, tuple[float, str]] = {
    "Cabinet": (0.08, "Cabinet"),
    "CoffeeMachine": (0.25, "CounterTop"),
    "Drawer": (0.14, "Desk Drawer Dresser SideTable"),
    "GarbageCan": (0.1, "Cabinet StoveBurner ToiletPaperHanger TVStand"),
    "HandTowelHolder": (0.03, "TowelHolder"),
    "Shelf": (0.05, "Shelf TVStand"),
    "StoveBurner": (0.4, "StoveBurner"),
    "Toaster": (0.3, "CounterTop"),
}

ROOMINESS = {
    "ArmChair": 7,
    "BathtubBasin": 16,
    "Bed": 30,
    "Cabinet": 2,
    "Cart": 12,
    "CoffeeMachine": 24,
    "CoffeeTable": 12,
    "CounterTop": 10,
    "Desk": 20,
    "DiningTable": 18,
    "Drawer": 2,
    "Dresser": 14,
    "Fridge": 15,
    "GarbageCan": 3,
    "HandTowelHolder": 150,
    "LaundryHamper": 1,
    "Microwave": 4,
    "Ottoman": 8,
    "Safe": 5,
    "Shelf": 4,
    "SideTable": 6,
    "SinkBasin": 5,
    "Sofa": 15,
    "StoveBurner": 35,
    "TVStand": 10,
    "Toaster": 1,
    "Toilet": 8,
    "ToiletPaperHanger": 6,
    "TowelHolder": 10,
}
"""Receptacle type to how readily things lie there at the start, relative to the others that can hold them."""

SINGLE = ("CoffeeMachine", "HandTowelHolder", "StoveBurner", "ToiletPaperHanger", "TowelHolder")
"""Receptacle types that start with one thing at most."""
