"""The phone as adb sees it: what commands print, what they change, and how they fail."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from backtrail.envs.androidworld.phone import Phone
from backtrail.envs.androidworld.phone.apps import files, notes, people, texts
from backtrail.envs.androidworld.phone.apps.contacts import Contacts
from backtrail.envs.androidworld.phone.apps.expense import Expense
from backtrail.envs.androidworld.phone.apps.files import Files
from backtrail.envs.androidworld.phone.apps.launcher import Launcher
from backtrail.envs.androidworld.phone.apps.notes import Notes
from backtrail.envs.androidworld.phone.apps.settings import Settings
from backtrail.envs.androidworld.phone.apps.sms import Sms
from backtrail.envs.androidworld.phone.film import describe_film
from backtrail.envs.androidworld.phone.shell import Shell
from backtrail.envs.androidworld.phone.shell_syntax import ShellSyntaxError, parse
from backtrail.envs.androidworld.phone.sound import describe_song

NOTEBOOK = "/storage/emulated/0/Documents/Markor"
EXPENSES = "/data/data/com.arduia.expense/databases"


def make_shell() -> Shell:
    phone = Phone([Launcher(), Settings(), Contacts(), Sms(), Files(), Notes(), Expense()])
    files.set_up(phone)
    notes.set_up(phone)
    return Shell(phone)


@pytest.fixture
def shell() -> Shell:
    return make_shell()


def said(shell: Shell, *arguments: str) -> str:
    """Return what a command in the shell prints; it must succeed."""
    status, output = shell.adb(["shell", *arguments])
    assert status == 0, output
    return output.decode()


def status(shell: Shell, *arguments: str) -> int:
    return shell.adb(["shell", *arguments])[0]


# -- the language -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "output"),
    [
        ("echo one   two", "one two\n"),
        ("echo 'one   two'", "one   two\n"),
        ("echo 'it'\"'\"'s' \"a 'b'\" c\\ d", "it's a 'b' c d\n"),
        ('echo "a\\"b" \'a\\"b\'', 'a"b a\\"b\n'),
        ("echo '$5 | > x & ; #'", "$5 | > x & ; #\n"),
        ("echo a # comment", "a\n"),
        ("echo a#b", "a#b\n"),
        ("echo a; echo b", "a\nb\n"),
        ("echo a && echo b", "a\nb\n"),
        ("false && echo b; echo c", "c\n"),
        ("false || echo b", "b\n"),
        ("true || echo b", ""),
        ("echo one; echo two | grep t", "one\ntwo\n"),
        ("echo 'x\ny\nz' | grep -v y | wc -l", "2\n"),
        ("if [ -d /sdcard ]; then\n echo yes\nelse\n echo no\nfi\n", "yes\n"),
        ("if [ -f /sdcard ]; then echo yes; else echo no; fi", "no\n"),
        ("if [ -f /a ]; then echo 1; elif [ -d /data ]; then echo 2; else echo 3; fi", "2\n"),
        ("nonsense 2>/dev/null; echo done", "done\n"),
        ("cat /nothing 2>&1 | wc -l", "1\n"),
        ("echo '' x", " x\n"),
        ("echo /sdcard/Doc*", "/sdcard/Documents\n"),
        ("echo '/sdcard/Doc*' /sdcard/no*", "/sdcard/Doc* /sdcard/no*\n"),
    ],
)
def test_the_language_of_the_shell(shell: Shell, program: str, output: str) -> None:
    assert said(shell, program) == output


@pytest.mark.parametrize(
    "program", ["echo 'a", 'echo "a', "| grep a", "echo a >", "if true; then echo a", "echo `date`", "a $(b)", "fi"]
)
def test_what_is_no_program_is_refused(shell: Shell, program: str) -> None:
    with pytest.raises(ShellSyntaxError):
        parse(program)
    assert status(shell, program) == 1


def test_an_unknown_command_ends_as_android_says(shell: Shell) -> None:
    code, output = shell.adb(["shell", "frobnicate", "-x"])
    assert (code, output) == (127, b"/system/bin/sh: frobnicate: inaccessible or not found\n")


@given(st.text(max_size=60))
@settings(max_examples=120, deadline=None)
def test_any_text_is_survivable(program: str) -> None:
    code, output = make_shell().adb(["shell", program])
    assert isinstance(code, int) and isinstance(output, bytes)


COMMANDS = [
    "ls",
    "find",
    "cat",
    "mkdir",
    "rm",
    "rmdir",
    "cp",
    "mv",
    "touch",
    "stat",
    "chmod",
    "echo",
    "grep",
    "head",
    "tail",
    "wc",
    "sort",
    "md5sum",
    "sqlite3",
    "test",
    "settings",
    "svc",
    "cmd",
    "date",
    "sleep",
    "pm",
    "content",
    "dumpsys",
    "wm",
    "getprop",
    "uiautomator",
    "am",
    "monkey",
    "input",
]
SECOND = [
    "get",
    "put",
    "list",
    "delete",
    "enable",
    "disable",
    "wifi",
    "start",
    "broadcast",
    "force-stop",
    "stack",
    "clear",
    "grant",
    "install",
    "query",
    "tap",
    "swipe",
    "text",
    "keyevent",
    "keycombination",
    "dump",
    "size",
    "recents",
    "packages",
    "/sdcard",
    "-p",
]
WORDS = [
    "system",
    "global",
    "list",
    "remove",
    "2",
    "packages",
    "-a",
    "-n",
    "-d",
    "-e",
    "-t",
    "-r",
    "-p",
    "-l",
    "-c",
    "-W",
    "-type",
    "-name",
    "-mindepth",
    "-delete",
    "--ei",
    "--es",
    "--uri",
    "--where",
    "--projection",
    "--sort",
    "-5",
    "0",
    "1",
    "500",
    "1000",
    "+%s",
    "@5",
    "99999999",
    "/sdcard",
    "/nothing",
    "/data/data",
    "/sdcard/Documents/*",
    "com.android.settings",
    "com.android.settings/.Settings",
    "KEYCODE_BACK",
    "113",
    "29",
    "67",
    "A",
    "%",
    "*",
    "[",
    "]",
    "{",
    "}",
    "!",
    "|",
    ";",
    "&&",
    "||",
    ">",
    ">>",
    "<",
    "2>",
    "2>&1",
    "content://sms/sent",
    "content://sms/inbox",
    "content://sms",
    "accessibility_forwarder.intent.action.SET_GRPC",
    "port",
    "android.intent.action.VIEW",
    "android.intent.action.CALL",
    "tel:1",
    "SELECT",
    "((",
    "/data/data/com.arduia.expense/databases/accounting.db",
]


@given(st.sampled_from(COMMANDS), st.sampled_from(SECOND), st.lists(st.sampled_from(WORDS), max_size=6))
@settings(max_examples=500, deadline=None)
def test_no_command_breaks_the_phone(command: str, second: str, words: list[str]) -> None:
    shell = make_shell()
    code, output = shell.adb(["shell", command, second, *words])
    assert isinstance(code, int) and isinstance(output, bytes)
    saved = shell.phone.save()
    shell.phone.load(saved)
    assert shell.phone.tree.children and shell.phone.save() == saved


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40))
@settings(max_examples=100, deadline=None)
def test_what_is_quoted_arrives_as_it_is(text: str) -> None:
    quoted = "'" + text.replace("'", "'\"'\"'") + "'"
    assert (
        said(make_shell(), "echo", "-E", ".", quoted) == f". {text}\n"
    )  # the dot: a text such as -n is no option then


def test_the_activity_that_starts_an_app_can_be_asked_for(shell: Shell) -> None:
    ask = ("cmd", "package", "resolve-activity", "--brief", "-c", "android.intent.category.LAUNCHER")
    assert said(shell, *ask, "com.android.settings") == "com.android.settings/.Settings\n"
    assert said(shell, *ask, "com.example.nothing") == "No activity found\n"


GREPS = [
    (options, places)
    for options in (
        "one", "-i ONE", "-v one", "-c one", "-vc one", "-n one", "-o o", "-on [a-z]*", "-l one", "-lv zzz", "-q one",
        "-F t.o", "-w one", "-x one", "-H one", "-h one", "-r one", "-rl two", "-rh one", "-rc one", "-E one|two", "zzz",
    )
    for places in ("a.txt", "a.txt sub/b.txt", "a.txt no.txt", *(("sub", "a.txt sub") if options.startswith("-r") else ()))
]  # fmt: skip


@pytest.mark.skipif(not shutil.which("grep"), reason="there is no grep here to compare with")
@pytest.mark.parametrize(("options", "paths"), GREPS)
def test_grep_is_the_one_of_this_machine(shell: Shell, tmp_path: Path, options: str, paths: str) -> None:
    folder = "/sdcard/Documents/texts"
    said(shell, f"mkdir -p {folder}/sub")
    (tmp_path / "sub").mkdir()
    for name, text in {"a.txt": "one\ntwo one\nOne t.o tone\n", "sub/b.txt": "two\n\nnone one", "sub/c.md": ""}.items():
        shell.volume.write(f"{folder}/{name}", text.encode())
        (tmp_path / name).write_text(text)
    words, places = options.split(), paths.split()
    real = subprocess.run(["grep", *words, *places], cwd=tmp_path, capture_output=True, text=True, check=False)
    quoted = " ".join(f"'{word}'" for word in [*words, *(f"{folder}/{place}" for place in places)])
    code, output = shell.adb(["shell", f"grep {quoted} 2>/dev/null"])
    assert code == real.returncode
    assert sorted(output.decode().replace(f"{folder}/", "").splitlines()) == sorted(real.stdout.splitlines())


# -- files ------------------------------------------------------------------------------------------------


def test_a_file_can_be_reached_by_all_names_of_the_storage(shell: Shell) -> None:
    said(shell, "mkdir", "-p", f"{NOTEBOOK}/plans")
    said(shell, "echo", "'buy milk'", ">", "/sdcard/Documents/Markor/plans/a.md")
    for name in ("/sdcard", "/storage/emulated/0", "/data/media/0"):
        assert said(shell, "cat", f"{name}/Documents/Markor/plans/a.md") == "buy milk\n"
    assert shell.phone.files.read(f"{NOTEBOOK}/plans/a.md") == "buy milk\n"


def test_find_prints_paths_in_the_spelling_that_it_was_given(shell: Shell) -> None:
    said(shell, "echo a > /sdcard/Documents/Markor/a.md")
    found = said(shell, "find", "/sdcard/Documents", "-type", "f", "-o", "-type", "d").split()
    assert found == ["/sdcard/Documents", "/sdcard/Documents/Markor", "/sdcard/Documents/Markor/a.md"]


def test_find_deletes_files_and_leaves_directories(shell: Shell) -> None:
    said(shell, f"echo a > {NOTEBOOK}/a.md; echo b > /sdcard/Download/b.txt")
    said(shell, "find", "/storage/emulated/0/", "-mindepth", "1", "-type", "f", "-delete")
    assert shell.phone.files.all() == []
    assert shell.phone.files.is_directory(NOTEBOOK)


def test_a_long_listing_says_size_time_and_name(shell: Shell) -> None:
    said(shell, "date", "1018120023.05")
    said(shell, f"echo 12345 > '{NOTEBOOK}/two words.md'")
    lines = [line.split(None, 8) for line in said(shell, "ls", NOTEBOOK, "-ll", "-au").splitlines() if line[0] == "-"]
    assert [(line[4], line[8]) for line in lines] == [("6", "two words.md")]
    when = datetime.fromisoformat(f"{lines[0][5]} {lines[0][6][:-3]}")
    assert when == datetime(2023, 10, 18, 12, 0, 5)


def test_reading_changes_no_time(shell: Shell) -> None:
    said(shell, f"echo a > {NOTEBOOK}/a.md")
    before = said(shell, "ls", "-ll", NOTEBOOK)
    shell.phone.pass_time(100)
    said(shell, "cat", f"{NOTEBOOK}/a.md")
    assert said(shell, "ls", "-ll", NOTEBOOK) == before


def test_a_file_is_no_directory(shell: Shell, tmp_path: Path) -> None:
    said(shell, "echo a > /sdcard/Download/a.txt; mkdir /sdcard/Download/b")
    (tmp_path / "x").write_text("x")
    before = shell.phone.save()
    for command in (
        "mkdir -p /sdcard/Download/a.txt/c",
        "cp -r /sdcard/Download/b /sdcard/Download/a.txt",
        "echo b > /sdcard/Download/b",
    ):
        assert status(shell, command) == 1
    assert shell.adb(["push", str(tmp_path / "x"), "/sdcard/Download/a.txt/x"])[0] == 1
    assert shell.phone.save() == before


def test_copying_and_moving_keep_content(shell: Shell) -> None:
    said(shell, f"mkdir {NOTEBOOK}/a; echo x > {NOTEBOOK}/a/x.md")
    said(shell, "cp", "-a", f"{NOTEBOOK}/a/.", "/sdcard/Download/")
    assert said(shell, "cat /sdcard/Download/x.md") == "x\n"
    said(shell, "mv", f"{NOTEBOOK}/a", "/sdcard/Download")
    assert said(shell, "ls", NOTEBOOK) == ""
    assert said(shell, "cat /sdcard/Download/a/x.md") == "x\n"


@pytest.mark.parametrize(
    "command",
    ["cat /nothing", "ls /nothing", "rm -r /sdcard/Download/*", "rm /sdcard/Download", "cp /nothing /sdcard", "mv /a /b",
     "find /nothing", "mkdir /sdcard/Download", "echo a > /nowhere/b", "mv /sdcard/Documents /sdcard/Documents/Markor",
     "find /sdcard -mindepth x", "stat", "uiautomator dump /sdcard"],
)  # fmt: skip
def test_what_cannot_be_done_with_files_fails_and_changes_nothing(shell: Shell, command: str) -> None:
    before = shell.phone.save()
    assert status(shell, command) == 1
    assert shell.phone.save() == before


@given(st.binary(max_size=200))
@settings(max_examples=60, deadline=None)
def test_what_is_pushed_can_be_pulled(content: bytes) -> None:
    assume(describe_song(content) is None and describe_film(content) is None)
    shell = make_shell()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "in").write_bytes(content)
        assert shell.adb(["push", f"{folder}/in", "/sdcard/Download/It's a file.bin"])[0] == 0
        shell.phone.load(shell.phone.save())
        assert shell.adb(["pull", "/sdcard/Download/It's a file.bin", f"{folder}/out"])[0] == 0
        assert Path(folder, "out").read_bytes() == content


def song(seconds: int, title: str) -> bytes:
    """Return an MP3 file of so many seconds: 44100 samples a second, 1152 in a frame."""
    text = b"\3" + title.encode()
    tag = b"TIT2" + len(text).to_bytes(4) + b"\0\0" + text
    head = b"\xff\xfb\x90\x00" + bytes(32) + b"Xing\0\0\0\1" + round(seconds * 44100 / 1152).to_bytes(4)
    return b"ID3\3\0\0" + bytes([0, 0, len(tag) >> 7, len(tag) & 127]) + tag + head + bytes(300)


def test_of_a_song_the_phone_keeps_title_and_length(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "a.mp3").write_bytes(song(200, "My Song"))
    shell.adb(["push", str(tmp_path / "a.mp3"), "/sdcard/Music/a.mp3"])
    kept = json.loads(said(shell, "cat", "/sdcard/Music/a.mp3"))
    assert kept["title"] == "My Song" and abs(kept["duration"] - 200_000) < 30


def test_the_length_of_a_song_without_a_count_of_frames_comes_from_its_rate() -> None:
    assert describe_song(b"\xff\xfb\x90\x00" + bytes(128 * 125 * 60 - 4)) == {"duration": 60_000}


@given(
    st.binary(max_size=80),
    st.sampled_from([b"", b"ID3\3\0\0\0\0\0\x40", b"ID3\4\0\0\0\0\0\x10TIT2\0\0", b"\xff\xfb", b"\xff\xe2"]),
)
def test_any_bytes_can_be_asked_whether_they_are_a_song(content: bytes, begin: bytes) -> None:
    found = describe_song(begin + content)
    assert found is None or found["duration"] in range(10**9)


def test_text_stays_as_it_is_whatever_it_begins_with(shell: Shell) -> None:
    said(shell, "echo 'ID3 tags are nice' > /sdcard/Music/a.txt")
    assert said(shell, "cat /sdcard/Music/a.txt") == "ID3 tags are nice\n"


def test_a_missing_file_cannot_be_pulled(shell: Shell, tmp_path: Path) -> None:
    assert shell.adb(["pull", "/sdcard/nothing", str(tmp_path / "out")])[0] == 1
    assert list(tmp_path.iterdir()) == []


# -- databases --------------------------------------------------------------------------------------------


def test_a_database_is_a_file_in_the_directory_of_its_app(shell: Shell, tmp_path: Path) -> None:
    assert said(shell, "ls", EXPENSES) == "accounting.db\n"
    shell.adb(["pull", f"{EXPENSES}/accounting.db", str(tmp_path)])
    assert (tmp_path / "accounting.db").read_bytes().startswith(b"SQLite format 3")


def test_a_deleted_database_is_there_again_without_rows(shell: Shell) -> None:
    path = f"{EXPENSES}/accounting.db"
    said(shell, f"sqlite3 {path} \"INSERT INTO expense VALUES (1, 'Bus', 300, 7, '', 0, 0)\"")
    assert said(shell, f"sqlite3 {path} 'SELECT name FROM expense'") == "Bus\n"
    said(shell, "rm", "-r", f"{EXPENSES}/*")
    assert said(shell, f"sqlite3 {path} 'SELECT name FROM expense'") == ""


def test_an_apps_data_can_be_put_away_and_brought_back(shell: Shell) -> None:
    home, away, path = (
        "/data/data/com.arduia.expense",
        "/data/data/android_world/snapshots/app",
        f"{EXPENSES}/accounting.db",
    )
    said(shell, f"sqlite3 {path} \"INSERT INTO expense VALUES (1, 'Bus', 300, 7, '', 0, 0)\"")
    said(shell, f"mkdir -p {away} && cp -a {home}/. {away}/")
    said(shell, f"rm -r {home}/*")
    assert said(shell, f"sqlite3 {path} 'SELECT name FROM expense'") == ""
    said(shell, f"cp -a {away}/. {home}/")
    assert said(shell, f"sqlite3 {path} 'SELECT name FROM expense'") == "Bus\n"


def test_what_is_no_database_cannot_take_the_place_of_one(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_text("not a database")
    before = shell.phone.save()
    assert shell.adb(["push", str(tmp_path / "bad.db"), f"{EXPENSES}/accounting.db"])[0] == 1
    assert status(shell, f"echo x > {EXPENSES}/accounting.db") == 1
    assert shell.phone.save() == before


# -- settings, clock, system ------------------------------------------------------------------------------


def test_settings_can_be_put_got_listed_and_deleted(shell: Shell) -> None:
    said(shell, "settings", "put", "system", "screen_brightness", "255")
    assert said(shell, "settings", "get", "system", "screen_brightness") == "255\n"
    assert "screen_brightness=255\n" in said(shell, "settings", "list", "system")
    said(shell, "settings", "delete", "system", "screen_brightness")
    assert said(shell, "settings", "get", "system", "screen_brightness") == "null\n"
    assert status(shell, "settings", "get", "nowhere", "key") == 255


def test_a_setting_that_is_a_number_stays_one(shell: Shell) -> None:
    said(shell, "settings put system screen_brightness 17")
    assert status(shell, "settings put system screen_brightness bright") == 255
    assert said(shell, "settings get system screen_brightness") == "17\n"


@pytest.mark.parametrize("radio", ["wifi", "bluetooth"])
def test_radios_can_be_switched(shell: Shell, radio: str) -> None:
    for what, value in (("disable", "0"), ("enable", "1")):
        said(shell, "svc", radio, what)
        assert said(shell, "settings", "get", "global", f"{radio}_on") == f"{value}\n"


def test_the_clock_can_be_set_and_read(shell: Shell) -> None:
    said(shell, "date", "1015153423.00")
    assert said(shell, "date", "+%s") == "1697384040\n"
    assert datetime.strptime(said(shell, "date").strip(), "%a %b %d %H:%M:%S %Z %Y") == datetime(2023, 10, 15, 15, 34)
    assert status(shell, "date", "1399153423.00") == 1


def test_facts_of_the_screen(shell: Shell) -> None:
    assert said(shell, "wm size") == "Physical size: 1080x2400\n"
    assert "logicalFrame=[0, 0, 1080, 2400]" in said(shell, "dumpsys", "input", "|", "grep", "logicalFrame")
    assert "SurfaceOrientation: 0" in said(shell, "dumpsys", "input")
    assert said(shell, "dumpsys window | grep mCurrentRotation").strip() == "mCurrentRotation=ROTATION_0"
    assert said(shell, "getprop ro.build.version.sdk") == "33\n"
    assert said(shell, "whoami") == "root\n"


def test_the_screen_can_be_dumped_as_xml(shell: Shell) -> None:
    said(shell, "uiautomator", "dump", "/sdcard/window_dump.xml")
    assert 'content-desc="Markor"' in said(shell, "cat", "/sdcard/window_dump.xml")


# -- apps and intents -------------------------------------------------------------------------------------


def test_an_app_can_be_started_and_stopped(shell: Shell) -> None:
    said(shell, "am", "start", "''", "-W", "-n", "com.android.settings/.Settings")
    front = said(shell, "am", "stack", "list", "|", "grep", "-E", "visible=true").splitlines()[0]
    assert "{com.android.settings/.Settings}" in front
    assert "id=2}" in said(shell, "dumpsys", "activity", "recents")
    said(shell, "am", "force-stop", "com.android.settings")
    assert "nexuslauncher" in shell.phone.activity


def test_an_app_that_is_not_there_leaves_the_screen_as_it_is(shell: Shell) -> None:
    before = shell.phone.activity
    assert "Error" in said(shell, "am", "start", "-W", "-n", "com.example/.Main")
    said(shell, "monkey", "-p", "com.example", "1")
    assert shell.phone.activity == before


def test_a_task_can_be_removed_by_its_number(shell: Shell) -> None:
    said(shell, "am", "start", "-n", "com.android.settings/.Settings")
    said(shell, "am", "stack", "remove", "2")
    assert "nexuslauncher" in shell.phone.activity


def test_the_form_for_a_contact_opens_filled_in(shell: Shell) -> None:
    said(
        shell,
        "am start -a android.intent.action.INSERT -t vnd.android.cursor.dir/contact "
        '-e name "Ann da Silva" -e phone +15551234567',
    )
    shown = {view.hint: view.text for view in shell.phone.tree.walk() if view.field}
    assert (shown["First name"], shown["Last name"], shown["Phone"]) == ("Ann", "da Silva", "+15551234567")


def test_a_message_can_be_begun_by_an_intent(shell: Shell) -> None:
    said(shell, 'am start -a android.intent.action.SENDTO -d sms:+15551234567 --es sms_body "hi there"')
    assert shell.phone.activity.startswith("com.simplemobiletools.smsmessenger/")
    assert any(view.text == "hi there" for view in shell.phone.tree.walk() if view.field)


def test_contacts_are_cleared_with_their_provider(shell: Shell) -> None:
    people.add_contact(shell.phone, "Ann", "Lee", "+15551234567")
    rows = said(shell, "content query --uri content://contacts/phones/ --projection display_name:number")
    assert rows == "Row: 0 display_name=Ann Lee, number=+15551234567\n"
    said(shell, "pm", "clear", "com.android.providers.contacts")
    assert people.contacts(shell.phone) == []
    assert status(shell, "pm", "clear", "com.example") == 1


def test_messages_are_listed_latest_first(shell: Shell) -> None:
    assert said(shell, "content query --uri content://sms/sent") == "No result found.\n"
    texts.send(shell.phone, "+15551", "first", seconds_ago=60)
    texts.send(shell.phone, "+15552", "second")
    rows = said(shell, "content", "query", "--uri", "content://sms/sent").splitlines()
    assert [row.split(" _id=")[0] for row in rows] == ["Row: 0", "Row: 1"]
    assert "address=+15552" in rows[0] and "body=first" in rows[1]


def test_the_console_lets_a_message_arrive(shell: Shell) -> None:
    assert shell.adb(["emu", "sms", "send", "+15551234567", "Hello, it's me"]) == (0, b"OK\n")
    assert [row["body"] for row in texts.messages(shell.phone)] == ["Hello, it's me"]
    assert "body=Hello, it's me" in said(shell, "content", "query", "--uri", "content://sms/inbox")


def test_the_clipboard_can_be_set_and_got(shell: Shell) -> None:
    said(shell, "am", "broadcast", "-a", "clipper.set", "-e", "text", "some\\ words\\!")
    assert 'result=-1, data="some words!"' in said(shell, "am", "broadcast", "-a", "clipper.get")
    assert shell.phone.state["clipboard"] == "some words!"


# -- touches and keys -------------------------------------------------------------------------------------


def note_form(shell: Shell) -> None:
    said(shell, 'am start -a android.intent.action.INSERT -t vnd.android.cursor.dir/contact -e name "Ann"')
    left, top, right, bottom = next(view for view in shell.phone.tree.walk() if view.hint == "First name").bounds
    said(shell, "input", "tap", str((left + right) // 2), str((top + bottom) // 2))


def first_name(shell: Shell) -> str:
    return next(view.text for view in shell.phone.tree.walk() if view.hint == "First name")


def test_text_is_typed_where_the_cursor_is(shell: Shell) -> None:
    note_form(shell)
    for word in ("a", "%s", "it\\'s"):
        said(shell, "input", "text", word)
    said(shell, "input", "keyevent", "KEYCODE_DEL")
    assert first_name(shell) == "Anna it'"


def test_all_of_a_field_can_be_selected_and_erased(shell: Shell) -> None:
    note_form(shell)
    said(shell, "input", "keycombination", "113", "29", "&&", "input", "keyevent", "67")
    assert first_name(shell) == ""


def test_what_is_typed_takes_the_place_of_what_is_selected(shell: Shell) -> None:
    note_form(shell)
    said(shell, "input keycombination 113 29; input text Bob")
    assert first_name(shell) == "Bob"


def test_copied_text_can_be_pasted(shell: Shell) -> None:
    note_form(shell)
    said(shell, "input keycombination KEYCODE_CTRL_LEFT KEYCODE_A; input keyevent COPY; input keyevent PASTE PASTE")
    assert shell.phone.state["clipboard"] == "Ann"
    assert first_name(shell) == "AnnAnnAnn"


def test_back_and_home_are_keys(shell: Shell) -> None:
    said(shell, "am", "start", "-n", "com.android.settings/.Settings")
    said(shell, "input", "keyevent", "KEYCODE_HOME")
    assert "nexuslauncher" in shell.phone.activity
    said(shell, "am start -n com.android.settings/.Settings; input keyevent 4")
    assert "nexuslauncher" in shell.phone.activity


def test_a_long_swipe_in_one_place_is_a_long_press(shell: Shell) -> None:
    notes.add_note(shell.phone, "a.md", "x")
    shell.phone.launch("notes")
    left, top, right, bottom = next(view for view in shell.phone.tree.walk() if view.text == "a.md").bounds
    x, y = str((left + right) // 2), str((top + bottom) // 2)
    said(shell, "input", "swipe", x, y, x, y, "1000")
    held = shell.phone.save()
    other = make_shell()
    notes.add_note(other.phone, "a.md", "x")
    other.phone.launch("notes")
    other.phone.hold(int(x), int(y))
    assert held == other.phone.save()


@pytest.mark.parametrize("arguments", ["tap 1", "tap a b", "fly 1 2", "text", "swipe 1 2 3", "keyevent A_B", ""])
def test_bad_input_is_refused(shell: Shell, arguments: str) -> None:
    assert status(shell, "input", arguments) in (0, 255)
    assert "nexuslauncher" in shell.phone.activity
