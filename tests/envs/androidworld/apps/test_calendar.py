from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from touching import Hand

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import events
from backtrail.envs.androidworld.phone.apps.calendar import Calendar
from backtrail.envs.androidworld.phone.apps.events import DAY, MONTH, WEEK, YEAR, add_event, seconds
from backtrail.envs.androidworld.phone.apps.launcher import Launcher

COLUMNS = [
    "id",
    "start_ts",
    "end_ts",
    "title",
    "location",
    "description",
    "reminder_1_minutes",
    "reminder_2_minutes",
    "reminder_3_minutes",
    "reminder_1_type",
    "reminder_2_type",
    "reminder_3_type",
    "repeat_interval",
    "repeat_rule",
    "repeat_limit",
    "repetition_exceptions",
    "attendees",
    "import_id",
    "time_zone",
    "flags",
    "event_type",
    "parent_id",
    "last_updated",
    "source",
    "availability",
    "color",
    "type",
]


@pytest.fixture
def phone() -> Phone:
    return Phone([Launcher(), Calendar()])


@pytest.fixture
def hand(phone: Phone) -> Hand:
    hand = Hand(phone)
    hand.tap("Simple Calendar Pro")
    return hand


def visit(hand: Hand, day: str) -> None:
    """Open a day of the month on show, e.g. "October 20"."""
    hand.tap(next(v.description for v in hand.phone.tree.walk() if v.description.startswith(f"{day}, ")))


def rows(phone: Phone, *columns: str) -> list[tuple]:
    return [tuple(row[column] for column in columns) for row in events.events(phone)]


def starts(phone: Phone, last: int, first: int = 0) -> list[str]:
    return [events.at(start).strftime("%y-%m-%d") for start, _, _ in events.occurrences(phone, first, last)]


# -- data -------------------------------------------------------------------------------------------------


def test_rows_have_the_columns_of_the_table(phone: Phone) -> None:
    number = add_event(phone, "A", 1, 2)
    assert list(events.event(phone, number)) == COLUMNS


def test_wrong_rows_are_refused(phone: Phone) -> None:
    with pytest.raises(ValueError, match="columns"):
        add_event(phone, "A", 1, 2, colour=3)
    with pytest.raises(ValueError, match="end"):
        add_event(phone, "A", 2, 1)
    with pytest.raises(KeyError, match="id"):
        events.event(phone, 99)
    assert events.events(phone) == []


def test_daily_weekly_monthly_yearly(phone: Phone) -> None:
    start = seconds(2023, 1, 31, 9)
    for interval, rule, days in (
        (DAY, 0, ["23-01-31", "23-02-01", "23-02-02"]),
        (2 * DAY, 0, ["23-01-31", "23-02-02", "23-02-04"]),
        (WEEK, 0, ["23-01-31", "23-02-07", "23-02-14"]),
        (WEEK, 1 | 2 | 64, ["23-01-31", "23-02-05", "23-02-06"]),
        (2 * WEEK, 2, ["23-01-31", "23-02-14", "23-02-28"]),
        (MONTH, 1, ["23-01-31", "23-03-31", "23-05-31"]),
        (YEAR, 1, ["23-01-31", "24-01-31", "25-01-31"]),
    ):
        number = add_event(phone, "A", start, start + 60, repeat_interval=interval, repeat_rule=rule)
        assert starts(phone, seconds(2027, 1, 1))[:3] == days
        events.delete_event(phone, number)


def test_repetitions_end_with_their_limit(phone: Phone) -> None:
    start = seconds(2023, 10, 1)
    number = add_event(phone, "A", start, start, repeat_interval=DAY, repeat_limit=start + 2 * DAY)
    assert len(starts(phone, start + YEAR)) == 3
    events.change_event(phone, number, repeat_limit=-5)
    assert len(starts(phone, start + YEAR)) == 5


def test_one_repetition_or_all_later_ones_can_go(phone: Phone) -> None:
    start = seconds(2023, 10, 1, 9)
    number = add_event(phone, "A", start, start, repeat_interval=DAY)
    events.delete_occurrence(phone, number, start + DAY)
    assert starts(phone, start + 4 * DAY) == ["23-10-01", "23-10-03", "23-10-04"]
    assert events.event(phone, number)["repetition_exceptions"] == '["20231002"]'
    events.delete_following(phone, number, start + 3 * DAY)
    assert starts(phone, start + YEAR) == ["23-10-01", "23-10-03"]
    events.delete_following(phone, number, start)
    assert events.events(phone) == []


@given(
    interval=st.sampled_from((0, DAY, WEEK, MONTH, YEAR)),
    rule=st.integers(0, 127),
    first=st.integers(0, 400),
    cut=st.integers(0, 400),
    last=st.integers(0, 400),
)
def test_a_stretch_of_time_has_what_its_parts_have(interval: int, rule: int, first: int, cut: int, last: int) -> None:
    phone = Phone([Launcher(), Calendar()])
    start = seconds(2023, 1, 30, 9)
    add_event(phone, "A", start, start, repeat_interval=interval, repeat_rule=rule if interval == WEEK else 0)
    a, b, c = (start + each * DAY - 3600 for each in sorted((first, cut, last)))
    whole = events.occurrences(phone, a, c)
    assert whole == events.occurrences(phone, a, b) + events.occurrences(phone, b, c)
    assert all(one[0] < other[0] for one, other in pairwise(whole))


# -- screens ----------------------------------------------------------------------------------------------


def test_the_month_shows_events_in_its_days(hand: Hand) -> None:
    for n in range(12):
        add_event(hand.phone, f"E{n}", seconds(2023, 10, 20, n), seconds(2023, 10, 20, n, 30))
    hand.phone.launch("calendar")
    assert hand.sees("October") and hand.sees("E0") and hand.sees("October 20, 12 events")
    assert hand.sees("October 15, 0 events")
    hand.tap("Next")
    assert hand.sees("November") and not hand.sees("E0")
    hand.tap("Go to today")
    assert hand.sees("October")


def test_turning_over_a_whole_year(hand: Hand) -> None:
    for _ in range(12):
        hand.tap("Previous")
    assert hand.sees("October 2022")
    for _ in range(24):
        hand.tap("Next")
    assert hand.sees("October 2024")


def test_a_new_event_with_all_its_parts(hand: Hand) -> None:
    visit(hand, "October 20")
    assert hand.sees("No events") and hand.sees("Friday, October 20, 2023")
    hand.tap("New Event")
    hand.type("title", "Lunch")
    hand.type("location", "Park")
    hand.type("description", "Bring bread.")
    hand.tap("Start date", "Next month", "3 November 2023", "Start time", "12 hours", "30 minutes", "OK")
    hand.tap("End time", "13 hours", "15 minutes", "OK", "Reminder", "1 hour before", "Save")
    assert rows(hand.phone, "title", "location", "description", "start_ts", "end_ts", "reminder_1_minutes") == [
        ("Lunch", "Park", "Bring bread.", seconds(2023, 11, 3, 12, 30), seconds(2023, 11, 3, 13, 15), 60)
    ]
    assert rows(hand.phone, "repeat_interval", "repeat_rule", "flags", "time_zone") == [(0, 0, 0, "UTC")]
    assert hand.phone.top["page"] == "day"


def test_a_new_event_begins_with_the_next_hour_and_lasts_one(hand: Hand) -> None:
    visit(hand, "October 16")
    hand.tap("New Event")
    hand.phone.pass_time(7200)  # the form keeps what it began with
    hand.type("title", "A")
    hand.tap("Save")
    assert rows(hand.phone, "start_ts", "end_ts") == [(seconds(2023, 10, 16, 16), seconds(2023, 10, 16, 17))]


def test_minutes_one_by_one(hand: Hand) -> None:
    hand.tap("New Event")
    hand.type("title", "A")
    hand.tap("Start time", "One minute less", "One minute less", "OK", "Save")
    assert [events.at(start).strftime("%H:%M") for (start,) in rows(hand.phone, "start_ts")] == ["16:58"]


def test_a_new_start_takes_the_end_along(hand: Hand) -> None:
    hand.tap("New Event")
    hand.type("title", "A")
    hand.tap("End time", "18 hours", "OK", "Start date", "31 October 2023", "Start time", "9 hours", "OK", "Save")
    assert rows(hand.phone, "start_ts", "end_ts") == [(seconds(2023, 10, 31, 9), seconds(2023, 10, 31, 11))]


def test_what_cannot_be_saved(hand: Hand) -> None:
    hand.tap("New Event", "Save")
    assert hand.sees("Title cannot be empty")
    hand.type("title", "A")
    hand.tap("End time", "3 hours", "OK", "Save")
    assert hand.sees("The event cannot end before it starts")
    assert events.events(hand.phone) == []
    hand.back()
    assert events.events(hand.phone) == [] and hand.sees("October")


def test_all_day(hand: Hand) -> None:
    visit(hand, "October 20")
    hand.tap("New Event")
    hand.type("title", "Fair")
    hand.tap("All-day")
    assert not hand.sees("Start time")
    hand.tap("End date", "21 October 2023", "Save")
    assert rows(hand.phone, "start_ts", "flags") == [(seconds(2023, 10, 20), 1)]
    for day in ("October 20", "October 21", "October 22"):
        assert len(events.occurrences_on(hand.phone, date(2023, 10, int(day[-2:])))) == (day != "October 22")
    assert hand.sees("All day")


@pytest.mark.parametrize(
    ("name", "interval", "rule"), [("Daily", DAY, 0), ("Weekly", WEEK, 16), ("Monthly", MONTH, 1), ("Yearly", YEAR, 1)]
)
def test_repetition(hand: Hand, name: str, interval: int, rule: int) -> None:
    visit(hand, "October 20")
    hand.tap("New Event")
    hand.type("title", "A")
    hand.tap("Repetition", name, "Save")
    assert rows(hand.phone, "repeat_interval", "repeat_rule", "repeat_limit") == [(interval, rule, 0)]


def test_days_of_the_week_and_a_last_day(hand: Hand) -> None:
    visit(hand, "October 20")
    hand.tap("New Event")
    hand.type("title", "A")
    hand.tap("Repetition", "Weekly", "Repeat on", "Monday", "Friday", "OK")
    hand.tap("Repeat till", "25 October 2023")
    assert hand.sees("October 25, 2023")
    hand.tap("Save")
    assert rows(hand.phone, "repeat_rule") == [(1,)]
    assert starts(hand.phone, seconds(2024, 1, 1)) == ["23-10-23"]
    visit_day = events.occurrences_on(hand.phone, date(2023, 10, 23))
    assert len(visit_day) == 1


def test_a_weekly_event_needs_a_day_and_follows_its_start(hand: Hand) -> None:
    hand.tap("New Event")
    hand.type("title", "A")
    hand.tap("Repetition", "Weekly", "Start date", "18 October 2023")
    assert hand.sees("Wednesday")
    hand.tap("Repeat on", "Wednesday", "OK", "Save")
    assert hand.sees("Choose a day of the week") and events.events(hand.phone) == []


def test_changing_an_event(hand: Hand) -> None:
    number = add_event(hand.phone, "Old", seconds(2023, 10, 20, 9), seconds(2023, 10, 20, 10), attendees="[x]")
    hand.phone.launch("calendar")
    visit(hand, "October 20")
    hand.tap("Old")
    hand.type("title", "New")
    hand.tap("Start date", "21 October 2023", "Save")
    assert rows(hand.phone, "id", "title", "start_ts", "end_ts", "attendees") == [
        (number, "New", seconds(2023, 10, 21, 9), seconds(2023, 10, 21, 10), "[x]")
    ]


@pytest.mark.parametrize("which", ["This event only", "This and all later ones", "All of them"])
def test_changing_a_repeated_event(hand: Hand, which: str) -> None:
    start = seconds(2023, 10, 16, 9)
    add_event(hand.phone, "A", start, start + 3600, repeat_interval=DAY)
    hand.phone.launch("calendar")
    visit(hand, "October 18")
    hand.tap("A", "Start time", "11 hours", "OK", "Save", which)
    found = events.occurrences(hand.phone, start, start + 4 * DAY)
    hours = {
        "This event only": [9, 9, 11, 9],
        "This and all later ones": [9, 9, 11, 11],
        "All of them": [11, 11, 11, 11],
    }
    assert [events.at(each[0]).hour for each in found] == hours[which]


@pytest.mark.parametrize(
    ("which", "left"), [("This event only", [16, 17, 19]), ("This and all later ones", [16, 17]), ("All of them", [])]
)
def test_deleting_a_repeated_event(hand: Hand, which: str, left: list[int]) -> None:
    start = seconds(2023, 10, 16, 9)
    add_event(hand.phone, "A", start, start + 3600, repeat_interval=DAY)
    hand.phone.launch("calendar")
    visit(hand, "October 18")
    hand.tap("A", "Delete")
    hand.back()
    assert len(events.occurrences(hand.phone, start, start + 4 * DAY)) == 4
    hand.tap("Delete", which)
    found = events.occurrences(hand.phone, start, start + 4 * DAY)
    assert [events.at(each[0]).day for each in found] == left
    assert hand.sees("No events")


def test_deleting_asks_first(hand: Hand) -> None:
    add_event(hand.phone, "A", seconds(2023, 10, 20, 9), seconds(2023, 10, 20, 10))
    hand.phone.launch("calendar")
    visit(hand, "October 20")
    hand.tap("A", "Delete", "No")
    assert len(events.events(hand.phone)) == 1
    hand.tap("Delete", "Yes")
    assert events.events(hand.phone) == [] and hand.sees("No events")


def test_deleting_all_events_of_a_day(hand: Hand) -> None:
    for n in range(3):
        add_event(hand.phone, f"E{n}", seconds(2023, 10, 20, 9 + n), seconds(2023, 10, 20, 10 + n))
    other = add_event(hand.phone, "Other", seconds(2023, 10, 21, 9), seconds(2023, 10, 21, 10))
    hand.phone.launch("calendar")
    visit(hand, "October 20")
    hand.hold("E1")
    assert hand.sees("1 / 3")
    hand.tap("More options", "Select all", "Delete", "Yes")
    assert rows(hand.phone, "id") == [(other,)] and hand.phone.top["page"] == "day"


def test_repetitions_deleted_with_the_event_they_were_taken_from(hand: Hand) -> None:
    start = seconds(2023, 10, 20, 9)
    number = add_event(hand.phone, "A", start, start, repeat_interval=DAY)
    add_event(hand.phone, "B", start, start, parent_id=number)
    hand.phone.launch("calendar")
    visit(hand, "October 20")
    hand.hold("A")
    hand.tap("B", "Delete", "All of them")
    assert events.events(hand.phone) == []


def test_the_list_goes_on_when_asked(hand: Hand) -> None:
    now = seconds(2023, 10, 15, 18)
    add_event(hand.phone, "Tonight", now, now + 60)
    add_event(hand.phone, "Later", now + 90 * DAY, now + 90 * DAY)
    hand.tap("Change view", "Simple event list")
    assert hand.sees("Sunday, October 15, 2023") and hand.sees("Tonight") and not hand.sees("Later")
    hand.tap("Show events after December 14, 2023", "Later")
    assert hand.phone.activity.endswith("EventActivity")
    hand.back()
    hand.tap("Change view", "Monthly view")
    assert hand.sees("October")


def test_the_day_view_goes_from_day_to_day(hand: Hand) -> None:
    hand.tap("Change view", "Daily view")
    assert hand.sees("Sunday, October 15, 2023")
    hand.tap("Next", "Next", "Previous")
    assert hand.sees("Monday, October 16, 2023")
    hand.tap("More options", "Go to date", "Previous month", "30 September 2023")
    assert hand.sees("Saturday, September 30, 2023")
    hand.tap("Go to today")
    assert hand.sees("Sunday, October 15, 2023")


def test_searching_titles_places_and_descriptions(hand: Hand) -> None:
    day = seconds(2023, 10, 20, 9)
    add_event(hand.phone, "Dinner", day, day + 3600, location="Harbour")
    add_event(hand.phone, "Call", day + DAY, day + DAY + 60, description="about the harbour")
    add_event(hand.phone, "Gym", day, day)
    hand.tap("Search")
    hand.type("query", "HARBOUR")
    assert hand.sees("Dinner") and hand.sees("Call") and not hand.sees("Gym")
    assert hand.sees("Oct 20, 2023, 09:00 - 10:00  Harbour")
    hand.type("query", "zzz")
    assert hand.sees("No events found")


@given(st.dates(date(2000, 1, 1), date(2099, 12, 31)))
def test_every_month_has_all_its_days_on_show(day: date) -> None:
    phone = Phone([Launcher(), Calendar()])
    phone.launch("calendar")
    phone.top["state"]["day"] = day.isoformat()
    phone.changed()
    shown = [view.description for view in phone.tree.walk() if view.resource.endswith("day_monthly")]
    first = day.replace(day=1)
    wanted = first
    while wanted.month == first.month:
        assert wanted.strftime("%B %-d, 0 events") in shown
        wanted += timedelta(days=1)
